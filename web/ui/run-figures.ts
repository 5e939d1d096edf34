import type { Pool } from '../engine/pool';
import { Signal } from '../state/signal';
import type { Store } from '../state/store';
import type { Values } from '../state/control';
import type { Figure } from './figure';
import type { Frame } from './frame';
import type { FigureId } from './registry';
import { Runner, type RunnerOptions } from './runner';

/** A figure with its place on the page. */
type FramedFigure<S extends Values = Values> = Figure<S> & { frame: Frame };

type FiguresById<Id extends FigureId, S extends Values> = Readonly<Record<Id, FramedFigure<S>>>;

/** What keeps the figures of a view running. */
export interface RunningFigures<Id extends FigureId, S extends Values> {
  runners: Readonly<Record<Id, Runner>>;
  /** Other figures are in sight, with all parameters that change one of them. */
  inSight: Signal<ReadonlySet<string>>;
  /** Draws all figures again, as after a change of the colours. */
  repaint(): void;
  /** Runs further figures of the view. */
  add<More extends FigureId>(figures: FiguresById<More, S>): Readonly<Record<More, Runner>>;
}

/** The band of the screen in which a figure counts as looked at. */
const BAND = '-30% 0px -40% 0px';

/** Runs the figures of a view; `optionsOf` are those of one of them. */
export function runFigures<Id extends FigureId, S extends Values>(
  figures: FiguresById<Id, S>,
  store: Store<S>,
  pool: Pool,
  optionsOf: (id: Id) => RunnerOptions,
): RunningFigures<Id, S> {
  const all: FramedFigure<S>[] = [];
  const runners: Record<string, Runner> = {};
  const { changed, follow } = followSight(all);
  const add = <More extends FigureId>(more: FiguresById<More, S>) => {
    for (const [id, figure] of Object.entries(more) as [More, FramedFigure<S>][]) {
      all.push(figure);
      runners[id] = new Runner(figure, figure.frame, store, pool, optionsOf(id as FigureId as Id));
      follow(figure);
    }
    return runners as Record<More, Runner>;
  };
  return {
    runners: add(figures),
    inSight: changed,
    repaint: () => Object.values(runners).forEach((runner) => runner.repaint()),
    add,
  };
}

/** Which of the figures, in the order of the page, are in sight. */
function followSight(figures: readonly FramedFigure[]) {
  const changed = new Signal<ReadonlySet<string>>();
  const seen = new Set<FramedFigure>();
  let isKnown = false;
  const sight = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const figure = figures.find(({ frame }) => frame.root === target);
        if (figure && isIntersecting) seen.add(figure);
        else if (figure) seen.delete(figure);
      }
      // Between figures the last ones count, before all of them the first that is unfolded.
      if (seen.size === 0 && isKnown) return;
      const first = figures.find(({ frame }) => !frame.root.closest('details:not([open])'));
      const shown = seen.size > 0 ? [...seen] : first ? [first] : [];
      isKnown = true;
      const names = shown.flatMap(({ inputs, repaintOn, beside }) => beside ?? [...inputs, ...repaintOn]);
      changed.send(new Set(names));
    },
    { rootMargin: BAND },
  );
  return { changed, follow: ({ frame }: FramedFigure) => sight.observe(frame.root) };
}
