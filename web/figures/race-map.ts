import { short } from '../charts/format';
import { legend } from '../charts/legend';
import { chart, dot, line } from '../charts/plot';
import type { Table } from '../charts/table';
import { looksOf, runEntries, type Look } from '../race/looks';
import type { Race } from '../race/race';
import type { HeadPlace } from '../race/rows';
import { limitsOf } from '../state/table';
import type { Store } from '../state/store';
import { Frame } from './frame';
import { axesOf, domainAround, FULL, gridOf, MapCanvas, mapMarks, stripEntry } from './map-field';
import type { Field } from './map-field';
import type { Ask, Part } from './part';

/** The process with which the heads' own localization is predicted. */
const TOKENS = 'normalized-walk';
/** Places that a trail goes through; the last is the head's present one. */
const TRAIL = 60;

interface Step extends HeadPlace {
  head: number;
}

/** Figure 11: the heads of the runs, on their way over the phase map. */
export class RaceMapFigure implements Part {
  readonly id = 'race-map';
  readonly inputs = ['asymmetry'] as const;
  readonly looks = ['runs'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private canvas = new MapCanvas();
  private result: (Field & { key: string }) | null = null;
  private asked = '';

  constructor(
    private store: Store,
    private race: Race,
  ) {}

  /** The heads have left the map, or the map is another: the engine is to be asked. */
  outgrown(): boolean {
    return this.asked !== this.question().key;
  }

  async compute(ask: Ask): Promise<void> {
    const { key, domain, common } = this.question();
    this.asked = key;
    if (this.result?.key === key) return;
    const take = (map: Field['map'], done: boolean) => {
      this.result = { key: done ? key : '', domain, map };
      ask.show(0.5);
    };
    const input = { ...common, ...gridOf(domain, FULL) };
    try {
      take(await ask.run('map', input, (map) => take(map, false)), true);
    } catch (error) {
      if (this.asked === key) this.asked = '';
      throw error;
    }
  }

  paint(): void {
    const { result } = this;
    if (!result) return;
    const { width } = this.frame;
    const looks = looksOf(this.race);
    const key = legend([stripEntry(result), ...runEntries(looks)], 56, width - 8, 22);
    const drawn = chart({
      label: this.describe(looks),
      width,
      height: Math.round(Math.max(300, Math.min(460, width * 0.66))) + key.height,
      ...{ marginTop: key.height + 12, marginLeft: 56, marginRight: 12, marginBottom: 44 },
      ...axesOf(result.domain),
      marks: [() => key.render(), ...mapMarks(result, width), ...looks.flatMap(headMarks)],
    });
    this.frame.put(drawn.svg, [this.canvas.paint(result, drawn)]);
    this.frame.say(this.caption(looks));
  }

  table(): Table | null {
    const looks = looksOf(this.race);
    if (looks.every(({ run }) => run.rows.length === 0)) return null;
    function* rows(): Generator<(string | number)[]> {
      for (const { run } of looks) {
        for (const { step, heads } of trailOf(run.rows)) {
          for (const [head, { x, y }] of heads.entries()) {
            const layer = Math.floor(head / run.training.heads);
            yield [run.kind, step, layer, head % run.training.heads, x, y];
          }
        }
      }
    }
    const names = ['run', 'step', 'layer', 'head', 'xi_over_lambda', 'root_eta_f_over_lambda'];
    return { columns: names, rows: rows() };
  }

  private question() {
    const { length } = this.race.runs[0].training;
    const { asymmetry } = this.store.state;
    const correlation = limitsOf('correlation').fallback;
    const common = { length, tokens: TOKENS, correlation, asymmetry } as const;
    const heads = this.race.runs.flatMap(({ rows }) => trailOf(rows).flatMap((row) => row.heads));
    const domain = domainAround(heads, TOKENS);
    return { common, domain, key: JSON.stringify([common, domain]) };
  }

  private caption(looks: Look[]): string {
    const begun = looks.filter(({ run }) => run.rows.length > 0);
    if (begun.length === 0) return 'Nothing is trained yet.';
    const texts = begun.map(({ run, name }) => {
      const { step, heads } = run.rows[run.rows.length - 1];
      const middle = (of: keyof HeadPlace) =>
        short(heads.reduce((sum, head) => sum + head[of], 0) / heads.length);
      return `${name}, step ${step}: ${heads.length} heads, mean ξ/λ ${middle('x')}, mean √η_F/λ ${middle('y')}.`;
    });
    return texts.join(' ');
  }

  private describe(looks: Look[]): string {
    return `Heads of the runs over the map of the localization index. ${this.caption(looks)}`;
  }
}

/** Rows evenly thinned to what a trail shows; the last is always among them. */
function trailOf<R>(rows: R[]): R[] {
  const every = Math.ceil(rows.length / TRAIL);
  return rows.filter((_, i) => (rows.length - 1 - i) % every === 0);
}

/** A thin trail for each head of a run, and a dot where the head is now. */
function headMarks({ run, name, colour, dash }: Look) {
  const trail = trailOf(run.rows);
  const steps: Step[] = trail.flatMap(({ heads }) => heads.map((at, head) => ({ ...at, head })));
  const last = trail.at(-1)?.heads ?? [];
  return [
    line(steps, {
      ...{ x: 'x', y: 'y', z: 'head', stroke: colour, strokeWidth: 1.25, strokeDasharray: dash },
      ...{ strokeOpacity: 0.8, clip: true, ariaDescription: `trails, ${name}` },
    }),
    dot(last, {
      ...{ x: 'x', y: 'y', r: 4.5, fill: colour, stroke: 'var(--paper)', strokeWidth: 1 },
      ...{ clip: true, ariaDescription: `heads, ${name}` },
    }),
  ];
}
