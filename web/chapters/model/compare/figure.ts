import type { Markish } from '@observablehq/plot';
import { count, decade, short, tick } from '../../../charts/format';
import { MarkTip, type Mark } from '../../../charts/mark-tip';
import { layerColour } from '../../../charts/palette';
import { floorMark, type Point } from '../../../charts/rank-floor';
import { chartWithLegend, compose, dot, link, shifted } from '../../../charts/plot';
import { finiteCell, type Table } from '../../../charts/table';
import type { Head, Output } from '../../../engine/protocol';
import { brushed, placeOf } from '../../../heads/brush';
import { readerOf } from '../../shared/checkpoint';
import { queryKeyOf, type Checkpoints, type Opened } from '../opening/checkpoints';
import { SMALL, SMALL_CORRELATION, driftChart, driftOf, type Drifted } from './drift';
import { placeName, spreadNames } from '../../../heads/registry';
import { child } from '../../../ui/dom';
import { Frame } from '../../../ui/frame';
import type { Figure, FigureContext, Store } from '../state';

/** Pixels between the two panels. */
const GAP = 14;

/** Fields of `head-drift` that only an adapter's changes have a column for. */
const ADAPTED = ['weight_distance', 'change_rank'] as const;

/** A head of two checkpoints. */
interface Pair {
  place: string;
  from: Head;
  to: Head;
}

/** Where the heads of the first checkpoint are in the one that is shown. */
export class CompareFigure implements Figure {
  readonly id = 'compare';
  readonly inputs = [] as const;
  readonly repaintOn = ['spread', 'brush'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private tip = new MarkTip(this.frame.chart);
  private chooser = child(document, '[data-file-chooser]');
  private slider = child<HTMLInputElement>(this.chooser, 'input');
  private title = child(this.chooser, 'span');
  /** What the LoRA adapter of an opened checkpoint changes, by the head's place. */
  private changes = new Map<Opened, Map<string, Output<'head-drift'>['heads'][number]>>();

  constructor(
    private store: Store,
    private checkpoints: Checkpoints,
  ) {
    this.slider.addEventListener('input', () => checkpoints.show(Number(this.slider.value)));
    this.frame.setPresent(false);
    checkpoints.changed.subscribe(() => this.follow());
  }

  /** With one checkpoint there is nothing to choose and nothing to compare. */
  private follow(): void {
    const { list, at } = this.checkpoints;
    this.frame.setPresent(list.length > 1);
    this.chooser.hidden = list.length < 2;
    this.slider.max = String(list.length - 1);
    this.slider.value = String(at);
    this.title.textContent = `${list[at].name}, ${at + 1} of ${list.length}`;
    this.slider.setAttribute('aria-valuetext', this.title.textContent);
  }

  async compute({ run, show, state }: FigureContext): Promise<void> {
    const [base, ...others] = this.checkpoints.list;
    const computed = this.changes;
    this.changes = new Map();
    for (const opened of others) {
      const { adapter } = opened;
      if (!adapter) continue;
      const changed = { changed: [adapter.model], changed_index: null, changed_config: adapter.config };
      const input = { ...readerOf(base), ...changed, ...queryKeyOf(state) };
      const known = computed.get(opened);
      const heads = known ? [...known.values()] : (await run('head-drift', input)).heads;
      this.changes.set(opened, new Map(heads.map((head) => [placeOf(head), head])));
    }
    show(1);
  }

  paint(): void {
    const pairs = this.pairs();
    const { width } = this.frame;
    const { state } = this.store;
    const { list, at } = this.checkpoints;
    if (list.length < 2) return;
    const chosen = brushed(state);
    const layers = 1 + Math.max(0, ...pairs.map(({ to }) => to.layer));
    const colour = ({ to }: Pair) => layerColour(to.layer, layers);
    const clear = ({ place }: Pair) => (chosen.size === 0 || chosen.has(place) ? 1 : 0.15);
    const logarithmic = pairs.every(({ from, to }) => this.spread(from) > 0 && this.spread(to) > 0);
    const look = { opacity: { value: clear, scale: null } };
    const picture = chartWithLegend({
      label: this.caption(pairs),
      entries: [
        { text: list[0].name, kind: 'ring', colours: [layerColour(0, 2)] },
        { text: list[at].name, kind: 'dot', colours: [layerColour(0, 2)] },
      ],
      width,
      height: Math.round(Math.min(460, width * 0.7)),
      marginLeft: 56,
      marginBottom: 42,
      x: { label: 'mean of the eigenspectrum →', tickFormat: tick, nice: true },
      y: {
        type: logarithmic ? 'log' : 'linear',
        label: `↑ ${spreadNames[state.spread]}`,
        tickFormat: logarithmic ? decade : tick,
        nice: true,
      },
      marks: [
        this.floorMark(pairs, logarithmic),
        link(pairs, {
          x1: ({ from }: Pair) => from.mean,
          y1: ({ from }: Pair) => this.spread(from),
          x2: ({ to }: Pair) => to.mean,
          y2: ({ to }: Pair) => this.spread(to),
          stroke: { value: colour, scale: null },
          ...look,
          ariaDescription: 'from before to after',
        }),
        dot(pairs, {
          x: ({ from }: Pair) => from.mean,
          y: ({ from }: Pair) => this.spread(from),
          r: 3.5,
          stroke: { value: colour, scale: null },
          fill: 'var(--paper)',
          ...look,
          ariaDescription: 'heads before',
        }),
        dot(pairs, {
          x: ({ to }: Pair) => to.mean,
          y: ({ to }: Pair) => this.spread(to),
          r: 4,
          fill: { value: colour, scale: null },
          ...look,
          ariaDescription: 'heads after',
        }),
      ],
    });
    const places = pairs.map(({ to }) => placeName(to));
    const drift = driftChart(this.drifted(pairs), places, width);
    const top = Number(picture.svg.getAttribute('height')) + GAP;
    const size = { width, height: top + Number(drift.chart.svg.getAttribute('height')) };
    const below = shifted(drift.chart, 0, top);
    this.tip.place(() => [
      [pairs.flatMap((pair) => this.tipsOf(pair)), picture],
      [drift.marks, below],
    ]);
    const parts = [
      { svg: picture.svg, x: 0, y: 0 },
      { svg: below.svg, x: 0, y: top },
    ];
    this.frame.put(compose(parts, size, this.caption(pairs)));
    this.frame.say(this.caption(pairs));
  }

  /** What the ring and the dot of a head say. */
  private tipsOf({ from, to }: Pair): Mark[] {
    const { list, at } = this.checkpoints;
    const tip = (head: Head, name: string) => {
      const [x, y] = [head.mean, this.spread(head)];
      const numbers = `mean ${short(x)}, ${spreadNames[this.store.state.spread]} ${short(y)}`;
      return { x, y, text: `${name}, ${placeName(head)}: ${numbers}` };
    };
    return [tip(from, list[0].name), tip(to, list[at].name)];
  }

  /** The least variance of a matrix of the heads' rank, over their means. */
  private floorMark(pairs: Pair[], logarithmic: boolean): Markish {
    const [{ to }] = pairs;
    const means = pairs.flatMap(({ from, to }) => [from.mean, to.mean]);
    const [left, right] = [Math.min(...means), Math.max(...means)];
    const least = Math.min(...pairs.flatMap((pair) => [this.spread(pair.from), this.spread(pair.to)]));
    const points = Array.from({ length: 101 }, (_, i) => {
      const mean = left + (i / 100) * (right - left);
      return [mean, mean ** 2 * (to.width / to.head_width - 1)] as Point;
    });
    const drawn = points.filter(([, floor]) => !logarithmic || floor >= least / 2);
    return floorMark(drawn);
  }

  table(): Table | null {
    const stacks = this.checkpoints.model.stacks.length > 1;
    const pairs = this.pairs();
    const drifted = this.drifted(pairs);
    const changes = this.changes.get(this.checkpoints.list[this.checkpoints.at]);
    const rows = pairs.map(({ from, to }, i) => [
      ...(stacks ? [to.stack] : []),
      to.layer,
      to.head,
      from.mean,
      this.spread(from),
      finiteCell(from.localization ?? NaN),
      to.mean,
      this.spread(to),
      finiteCell(to.localization ?? NaN),
      ...drifted.map(({ drift }) => finiteCell(drift.heads[i])),
      ...(changes ? ADAPTED.map((name) => finiteCell(changes.get(placeOf(to))?.[name] ?? NaN)) : []),
    ]);
    const names = ['mean', this.store.state.spread, 'localization'];
    const places = [...(stacks ? ['stack'] : []), 'layer', 'head'];
    const columns = [
      ...[...places, ...names.map((it) => `${it}_before`), ...names, ...names.map((it) => `${it}_drift`)],
      ...(changes ? ADAPTED : []),
    ];
    return { columns, rows };
  }

  private spread(head: Head): number {
    return head[this.store.state.spread];
  }

  /** Drifts of the mean, the spread and the predicted localization. */
  private drifted(pairs: Pair[]): Drifted[] {
    const drift = (of: (head: Head) => number) =>
      driftOf(
        pairs.map(({ from }) => of(from)),
        pairs.map(({ to }) => of(to)),
      );
    return [
      { label: 'mean', drift: drift(({ mean }) => mean) },
      { label: spreadNames[this.store.state.spread], drift: drift((head) => this.spread(head)) },
      { label: 'localization', drift: drift(({ localization }) => localization ?? NaN) },
    ];
  }

  /** The heads that both have. */
  private pairs(): Pair[] {
    const { list, at } = this.checkpoints;
    if (list.length < 2) return [];
    const before = new Map(list[0].heads.map((head) => [placeOf(head), head]));
    return list[at].heads.flatMap((to) => {
      const from = before.get(placeOf(to));
      return from ? [{ place: placeOf(to), from, to }] : [];
    });
  }

  private caption(pairs: Pair[]): string {
    const { list, at } = this.checkpoints;
    const mean = (of: (pair: Pair) => number) => pairs.reduce((sum, pair) => sum + of(pair), 0) / pairs.length;
    return (
      `${list[0].name} to ${list[at].name}: ${count(pairs.length)} heads that both have; their means go from ` +
      `${short(mean(({ from }) => from.mean))} to ${short(mean(({ to }) => to.mean))} on average, ` +
      `their ${spreadNames[this.store.state.spread]} from ` +
      `${short(mean(({ from }) => this.spread(from)))} to ${short(mean(({ to }) => this.spread(to)))}. ` +
      `Root-mean-square drift of a head, in standard deviations over the heads of ${list[0].name}: ` +
      `${this.drifted(pairs)
        .map(({ label, drift }) => `${label} ${short(drift.rms)}`)
        .join(', ')}. An independent drift of ${SMALL} leaves a correlation of ${SMALL_CORRELATION.toFixed(3)}.` +
      this.adapterText()
    );
  }

  /** What the adapter of the shown checkpoint changes. */
  private adapterText(): string {
    const changes = this.changes.get(this.checkpoints.list[this.checkpoints.at]);
    if (!changes) return '';
    const heads = [...changes.values()];
    const ranks = heads.map(({ change_rank }) => change_rank ?? NaN).filter((rank) => rank > 0);
    const distance = Math.max(...heads.map(({ weight_distance }) => weight_distance ?? 0));
    const [least, most] = [Math.min(...ranks), Math.max(...ranks)];
    const changed = `The adapter changes ${count(ranks.length)} of ${count(heads.length)} heads`;
    if (ranks.length === 0) return ` ${changed}.`;
    const rank = least === most ? most : `${least} to ${most}`;
    return ` ${changed}, by matrices of rank ${rank} and of at most ${short(distance)} of the norm of W.`;
  }
}
