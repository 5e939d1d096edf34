import { count, short } from '../../../charts/format';
import { dot, line } from '../../../charts/plot';
import type { Table } from '../../../charts/table';
import { limitsOf } from '../../../state/control';
import { child } from '../../../ui/dom';
import { Frame } from '../../../ui/frame';
import {
  domainAround,
  FULL,
  gridOf,
  MapCanvas,
  mapChart,
  mapMarks,
  stripEntry,
  type Field,
} from '../../shared/map-field';
import { rankMark } from '../../shared/map-levels';
import { momentOf, upTo, type HeadPlace, type Row } from '../runs/log';
import { stylesOf, runEntries, type RunStyle, type ShownRun, type ShownRuns } from '../runs/shown';
import type { Figure, FigureContext, Store } from '../state';

/** The process with which the heads' own localization is predicted. */
const TOKENS = 'normalized-walk';
/** Places that a trail goes through; the last is that of the chosen step. */
const TRAIL = 60;

/** The heads of the runs, on their way over the phase map. */
export class RunMapFigure implements Figure {
  readonly id = 'run-map';
  readonly inputs = ['asymmetry'] as const;
  readonly repaintOn = ['runs', 'moment'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private canvas = new MapCanvas();
  private result: (Field & { key: string }) | null = null;
  private asked = '';
  private slider = child<HTMLInputElement>(this.frame.root, '[data-moment]');

  constructor(
    private store: Store,
    private shown: ShownRuns,
  ) {
    this.slider.addEventListener('input', () => {
      const steps = this.steps();
      const place = Number(this.slider.value);
      const moment = place < steps.length - 1 ? String(steps[place]) : 'newest';
      store.set({ moment }, false);
    });
    this.slider.addEventListener('change', () => store.settle());
    this.follow();
  }

  /** The heads have left the map, or the map is another: the engine is to be asked. */
  outgrown(): boolean {
    return this.asked !== this.question().key;
  }

  async compute(context: FigureContext): Promise<void> {
    await this.shown.load();
    const { key, domain, common } = this.question();
    this.asked = key;
    if (this.result?.key === key) return;
    const take = (map: Field['map'], done: boolean) => {
      this.result = { key: done ? key : '', domain, map };
      context.show(0.5);
    };
    const input = { ...common, ...gridOf(domain, FULL) };
    try {
      take(await context.run('map', input, (map) => take(map, false)), true);
    } catch (error) {
      if (this.asked === key) this.asked = '';
      throw error;
    }
  }

  *paint() {
    const { result } = this;
    this.follow();
    if (!result) return;
    const styles = stylesOf(this.shown.all);
    const rank = rankOf(styles);
    const names = yield* mapMarks(result, this.frame.width);
    const caption = this.caption(styles);
    const drawn = mapChart(this.frame, result, {
      label: `Heads of the runs over the map of the localization index. ${caption}`,
      entries: [stripEntry(result), ...runEntries(styles)],
      marks: [
        ...names,
        ...(rank ? [rankMark(result.domain, rank)] : []),
        ...styles.flatMap((style) => headMarks(style, this.rows(style.run))),
      ],
    });
    this.frame.put(drawn.svg, [this.canvas.paint(result, drawn)]);
    this.frame.say(caption);
  }

  table(): Table | null {
    const styles = stylesOf(this.shown.all);
    if (styles.every(({ run }) => run.rows.length === 0)) return null;
    const rows = styles.flatMap(({ run }) =>
      trailOf(this.rows(run)).flatMap(({ step, heads }) =>
        heads.map(({ x, y }, head) => {
          const layer = Math.floor(head / run.training.heads);
          return [run.kind, step, layer, head % run.training.heads, x, y];
        }),
      ),
    );
    return { columns: ['run', 'step', 'layer', 'head', 'xi_over_lambda', 'sqrt_eta_f_over_lambda'], rows };
  }

  /** What is shown of a run: its rows up to the chosen step. */
  private rows(run: ShownRun): Row[] {
    return upTo(run.rows, momentOf(this.store.state));
  }

  /** Every step that a run has a row of, in order. */
  private steps(): number[] {
    const steps = this.shown.all.flatMap(({ rows }) => rows.map(({ step }) => step));
    return [...new Set(steps)].sort((a, b) => a - b);
  }

  /** The slider goes over the steps that there are. */
  private follow(): void {
    const { slider } = this;
    const steps = this.steps();
    const moment = momentOf(this.store.state);
    const shown = steps.filter((step) => step <= moment);
    const newest = shown.length === steps.length;
    const text = newest ? 'newest' : count(shown.at(-1) ?? 0);
    slider.max = String(Math.max(0, steps.length - 1));
    slider.value = String(Math.max(0, shown.length - 1));
    slider.disabled = steps.length < 2;
    slider.setAttribute('aria-valuetext', text);
    child(this.frame.root, '[data-moment-text]').textContent = text;
  }

  private question() {
    const { length } = this.shown.all[0].training;
    const { asymmetry } = this.store.state;
    const correlation = limitsOf('correlation').default;
    const common = { length, tokens: TOKENS, correlation, asymmetry } as const;
    const heads = this.shown.all.flatMap(({ rows }) => trailOf(rows).flatMap((row) => row.heads));
    const domain = domainAround(heads, TOKENS);
    return { common, domain, key: JSON.stringify([common, domain]) };
  }

  private caption(styles: RunStyle[]): string {
    const texts = styles.flatMap(({ run, name }) => {
      const last = this.rows(run).at(-1);
      if (!last) return [];
      const { step, heads } = last;
      const middle = (of: keyof HeadPlace) => short(heads.reduce((sum, head) => sum + head[of], 0) / heads.length);
      return `${name}, step ${count(step)}: ${count(heads.length)} heads, mean ξ/λ ${middle('x')}, mean √η_F/λ ${middle('y')}.`;
    });
    return [this.shown.source, ...texts].filter(Boolean).join(' ');
  }
}

/** Rows evenly thinned to what a trail shows; the last is always among them. */
function trailOf<R>(rows: R[]): R[] {
  const every = Math.ceil(rows.length / TRAIL);
  return rows.filter((_, i) => (rows.length - 1 - i) % every === 0);
}

/** A thin trail for each head of a run, and a dot where it ends. */
function headMarks({ name, colour, dash }: RunStyle, rows: Row[]) {
  const trail = trailOf(rows);
  const steps = trail.flatMap(({ heads }) => heads.map((at, head) => ({ ...at, head })));
  const last = trail.at(-1)?.heads ?? [];
  return [
    line(steps, {
      x: 'x',
      y: 'y',
      z: 'head',
      stroke: colour,
      strokeWidth: 1.25,
      strokeDasharray: dash,
      strokeOpacity: 0.8,
      clip: true,
      ariaDescription: `trails, ${name}`,
    }),
    dot(last, {
      x: 'x',
      y: 'y',
      r: 4.5,
      fill: colour,
      stroke: 'var(--paper)',
      strokeWidth: 1,
      clip: true,
      ariaDescription: `heads, ${name}`,
    }),
  ];
}

/** The width of the runs' heads, which is the rank of their W; 0 where they differ or there are none. */
function rankOf(styles: RunStyle[]): number {
  const ranks = new Set(styles.map(({ run: { training } }) => training.width / training.heads));
  return ranks.size === 1 ? [...ranks][0] : 0;
}
