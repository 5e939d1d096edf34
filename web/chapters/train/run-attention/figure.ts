import { count, short } from '../../../charts/format';
import { MatrixPicture } from '../../../charts/matrix';
import type { Table } from '../../../charts/table';
import type { Intervention, Output } from '../../../engine/protocol';
import { child } from '../../../ui/dom';
import { Frame } from '../../../ui/frame';
import { drawWeights, weightsTable, weightText } from '../../shared/attention';
import { settingsOf, type RunComparison } from '../runs/comparison';
import type { TrainingRun } from '../runs/run';
import { type Figure, type FigureContext, type Store, interventions, type State } from '../state';
import { regularizers } from '../methods';

/** What a checkpoint makes of the text, and when. */
interface Result {
  kind: Watched['run']['kind'];
  step: number;
  intervention: Intervention;
  output: Output<'run-attention'>;
}

/** Pixels of a row with a letter, and of the picture's side beside its cells. */
const [LETTER, AROUND] = [13, 60];

/** What a head of a run attends to in a text, as it learns. */
export class RunAttentionFigure implements Figure {
  readonly id = 'run-attention';
  readonly inputs = ['prompt', 'watched', 'runs', 'intervention', 'tame'] as const;
  readonly repaintOn = [];
  readonly frame = new Frame(this.id, () => this.table());
  /** A question is under way: it looks for newer checkpoints itself. */
  asking = false;
  private picture = new MatrixPicture(this.frame.chart, (row, column, value) =>
    weightText(this.result ? tokensOf(this.result) : [], row, column, value),
  );
  private result: Result | null = null;
  private cells: { output: Output<'run-attention'>; at: number; values: Float32Array } | null = null;
  private runs = child<HTMLSelectElement>(this.frame.root, '[data-watch="run"]');
  private heads = child<HTMLSelectElement>(this.frame.root, '[data-watch="head"]');

  constructor(
    private store: Store,
    private comparison: RunComparison,
  ) {
    const choose = () => {
      const [layer, head] = this.heads.value.split('.').map(Number);
      store.set({ watched: `${this.runs.value}:${layer || 0}.${head || 0}` });
    };
    this.runs.addEventListener('change', choose);
    this.heads.addEventListener('change', choose);
    this.follow();
  }

  /** Offers the runs and the heads that there are. */
  follow(): void {
    const { run, layer, head } = this.watched;
    const { depth, heads } = run.training;
    offer(
      this.runs,
      this.comparison.runs.map(({ kind }) => [kind, regularizers[kind]]),
    );
    const places = Array.from({ length: depth * heads }, (_, at) => {
      const [l, h] = [Math.floor(at / heads), at % heads];
      return [`${l}.${h}`, `layer ${l}, head ${h}`] as const;
    });
    offer(this.heads, places);
    this.runs.value = run.kind;
    this.heads.value = `${layer}.${head}`;
  }

  async compute(context: FigureContext): Promise<void> {
    const { prompt, intervention, tame } = context.state;
    let seen: Uint8Array | null = null;
    this.asking = true;
    try {
      for (;;) {
        const { run } = this.watched;
        const { kind, saved } = run;
        const checkpoint = await run.weights(await this.comparison.learned);
        if (checkpoint === seen) return;
        seen = checkpoint;
        const output = await context.run('run-attention', { checkpoint, prompt, intervention, tame });
        this.result = { kind, step: saved, intervention, output };
        context.show(0.9);
      }
    } finally {
      this.asking = false;
    }
  }

  paint(): void {
    const { result, frame } = this;
    this.follow();
    if (!result) return;
    const tokens = tokensOf(result);
    const { length } = tokens;
    const isShort = tokens.every((token) => token.length < 3);
    const look = {
      side: () => Math.min(frame.width, 560),
      names: (side: number) =>
        isShort && length * LETTER < side - AROUND && { name: (place: number) => tokens[place - 1] },
    };
    const { layer, head } = this.watched;
    const when = result.step > 0 ? `after ${count(result.step)} steps` : 'before training';
    frame.retitle(`Attention of layer ${layer}, head ${head} ${when}`);
    const text = this.describe(result);
    drawWeights(frame, this.picture, { length, values: this.weights(result) }, look, text);
    frame.say(text);
  }

  /** Of the run whose attention is shown. */
  settings(): Record<string, string | number> {
    const run = this.result ? this.comparison.find(this.result.kind) : undefined;
    return settingsOf((run ?? this.watched.run).training);
  }

  table(): Table | null {
    const { result } = this;
    return result && weightsTable(tokensOf(result), this.weights(result));
  }

  private get watched(): Watched {
    return watchedIn(this.comparison, this.store.state);
  }

  /** The chosen head's weights; the same array for the same answer, which is then not painted anew. */
  private weights({ output }: Result): Float32Array {
    const at = this.place(output);
    if (this.cells?.output !== output || this.cells.at !== at) {
      const size = output.tokens.length ** 2;
      const values = output.weights.slice(at * size, (at + 1) * size);
      this.cells = { output, at, values };
    }
    return this.cells.values;
  }

  private place({ layers, heads }: Output<'run-attention'>): number {
    const { layer, head } = this.watched;
    return Math.min(layer, layers - 1) * heads + Math.min(head, heads - 1);
  }

  private describe({ kind, step, intervention, output }: Result): string {
    const { layer, head } = this.watched;
    const entropy = short(output.entropy[this.place(output)]);
    const how = intervention === 'none' ? '' : `, ${interventions[intervention]}`;
    return (
      `${regularizers[kind]}, step ${count(step)}, layer ${layer}, head ${head}${how}: ` +
      `mean entropy ${entropy} over ${output.tokens.length} tokens.`
    );
  }
}

const tokensOf = ({ output }: Result) => output.tokens.map(({ token }) => tokenText(token));

/** Puts options into a list, if they are others than those that are there. */
function offer(select: HTMLSelectElement, options: (readonly [string, string])[]): void {
  const known = [...select.options].map(({ value }) => value).join();
  if (known === options.map(([value]) => value).join()) return;
  select.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
}

/** A head of a run of the comparison. */
interface Watched {
  run: TrainingRun;
  layer: number;
  head: number;
}

/** The head that the state names as run:layer.head; where there is none, the nearest that there is. */
export function watchedIn(comparison: RunComparison, { watched }: Readonly<State>): Watched {
  const [kind, place = ''] = watched.split(':');
  const run = comparison.runs.find((it) => it.kind === kind) ?? comparison.runs[0];
  const [layer, head] = place.split('.').map((part) => Math.max(0, Math.trunc(Number(part)) || 0));
  const { depth, heads } = run.training;
  return { run, layer: Math.max(0, Math.min(depth - 1, layer)), head: Math.min(heads - 1, head ?? 0) };
}

/** A token as it can be read: a space is seen, a byte that is no letter by itself is its number. */
function tokenText(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.replace(/ /g, '␣').replace(/\n/g, '↵');
  } catch {
    return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  }
}
