import type { Markish, ScaleOptions } from '@observablehq/plot';
import type { Entry } from '../../charts/legend';
import { chart, chartWithLegend, compose, gridX, gridY } from '../../charts/plot';
import { finiteCell, type Cell, type Table } from '../../charts/table';
import { pick } from '../../state/control';
import { areEqual } from '../../state/equal';
import { child } from '../../ui/dom';
import { Frame } from '../../ui/frame';
import type { FigureOf } from '../../ui/registry';
import { firstAnswers } from './first';
import { usesView, type Figure, type FigureContext, type State } from './state';

/** Below this width the two charts of a lab stand one above the other. */
const NARROW = 640;

/** Pixels of a small picture. */
const CARD = { width: 300, height: 110, margin: 8 };

/** Class of a sentence whose numbers are those of the settings before. */
const BEFORE = 'before';

/** One of the two charts of a lab. */
export interface Panel {
  label: string;
  entries: Entry[];
  x: ScaleOptions;
  y: ScaleOptions;
  marks: Markish[];
}

/** A column for each field of the rows of a result; empty cells for fields that a row does not have. */
export function tableOfRows(rows: readonly object[]): Table {
  const columns = [...new Set(rows.flatMap(Object.keys))];
  const cell = (value?: Cell) => (typeof value === 'number' ? finiteCell(value) : (value ?? null));
  return { columns, rows: rows.map((row) => columns.map((name) => cell((row as Record<string, Cell>)[name]))) };
}

/** The rows of a result as a table. */
export const rowsTable = ({ rows }: { rows: readonly object[] }): Table => tableOfRows(rows);

/** Settings that are no larger than these while a control is dragged. */
export type Quick = Partial<Record<{ [N in keyof State]: State[N] extends number ? N : never }[keyof State], number>>;

/** The state of a question, with small settings while a control is dragged. */
export function askedState({ state, quality }: FigureContext, quick: Quick): Readonly<State> {
  if (quality === 'full') return state;
  const names = Object.keys(quick) as (keyof Quick)[];
  return { ...state, ...Object.fromEntries(names.map((name) => [name, Math.min(quick[name]!, state[name])])) };
}

/** Whether an answer has a number in each of its rows: those of training runs come one run after the other. */
export function isInEveryRow(output: object): boolean {
  const rows = 'rows' in output ? (output.rows as object[]) : [];
  return rows.every((row) => !('trainings' in row) || row.trainings !== 0);
}

/** A lab: two charts side by side, with the sentence that its numbers fill. */
export abstract class LabFigure<Output extends object> implements Figure {
  abstract readonly inputs: readonly (keyof State & string)[];
  readonly repaintOn: readonly (keyof State & string)[] = [];
  /** The title of another answer than the build's, whose finding is the title on the page. */
  abstract readonly topic: string;
  readonly frame: Frame;
  private finding: string;
  private claim: HTMLElement;
  /** Stands before the caption of the page where the answer is not the build's, of which the caption tells. */
  private scope = Object.assign(document.createElement('span'), {
    textContent: 'This caption describes the default settings. ',
    hidden: true,
  });
  private output: Output | null = null;
  /** The state whose answer it is. */
  protected answered: Readonly<State> = usesView.defaults;
  /** It is the build's. */
  private isBuilt = true;

  constructor(readonly id: FigureOf<'uses'>) {
    this.frame = new Frame(id, () => this.table());
    this.finding = this.frame.name;
    this.claim = child(this.frame.root, '[data-claim]');
    child(this.frame.root, 'figcaption').prepend(this.scope);
  }

  /** The whole answer; `take` gets what is known of it so far, with the share in [0, 1]. */
  protected abstract answer(context: FigureContext, take: (output: Output, progress: number) => void): Promise<Output>;
  protected abstract panels(output: Output): readonly [Panel, Panel];
  protected abstract claimOf(output: Output): string;
  /** What stands below the charts. */
  protected abstract captionOf(output: Output): string;
  protected abstract tableOf(output: Output): Table;

  /** The first panel of its answer in the chapter's own state, small and without axes. */
  card(first: Output, { marks, x, y } = this.panels(first)[0]): SVGSVGElement {
    const scale = ({ type, base, constant }: ScaleOptions) => ({ type, base, constant, axis: null, inset: 6 });
    return chart({ label: '', ...CARD, x: scale(x), y: scale(y), marks }).svg;
  }

  /** The answer is what the build has computed: that of the chapter's own settings. */
  protected isKnown(state: Readonly<State>): boolean {
    return areEqual(pick(state, this.inputs), pick(usesView.defaults, this.inputs));
  }

  async compute(context: FigureContext): Promise<void> {
    const take = (output: Output, isBuilt = false) => {
      this.output = output;
      this.answered = context.state;
      this.isBuilt = isBuilt;
      this.claim.classList.remove(BEFORE);
    };
    if (this.isKnown(context.state)) {
      const { [this.id]: first } = await firstAnswers();
      if (!context.signal.aborted) take(first, true);
      return;
    }
    this.claim.classList.add(BEFORE);
    const whole = await this.answer(context, (output, progress) => {
      if (!isInEveryRow(output)) return; // the answer before stays until there is one to put in its place
      take(output);
      context.show(progress);
    });
    take(whole);
  }

  paint(): void {
    const { output, frame } = this;
    if (!output) return;
    const wide = frame.width >= NARROW;
    const width = wide ? Math.floor(frame.width / 2) : frame.width;
    const panels = this.panels(output).map((panel) => this.draw(panel, width));
    const heights = panels.map(({ viewBox }) => viewBox.baseVal.height);
    const most = Math.max(...heights);
    const parts = panels.map((svg, i) => ({
      svg,
      x: wide ? i * width : 0,
      y: wide ? most - heights[i] : i * heights[0],
    }));
    const height = wide ? most : heights[0] + heights[1];
    const [claim, caption] = [this.claimOf(output), this.captionOf(output)];
    this.claim.textContent = claim;
    frame.put(compose(parts, { width: frame.width, height }, `${claim} ${caption}`));
    frame.say(caption);
    this.scope.hidden = this.isBuilt;
    frame.retitle(this.isBuilt ? this.finding : this.topic);
  }

  table(): Table | null {
    return this.output && this.tableOf(this.output);
  }

  private draw({ label, entries, x, y, marks }: Panel, width: number): SVGSVGElement {
    const share = width < this.frame.width ? 0.36 : 0.6;
    return chartWithLegend({
      label,
      width,
      height: this.frame.height({ share, least: 240, most: 340 }),
      entries,
      marginLeft: 52,
      marginRight: 16,
      marginBottom: 44,
      x: { labelAnchor: 'center', ...x },
      y,
      marks: [gridX({ strokeOpacity: 0.08 }), gridY({ strokeOpacity: 0.08 }), ...marks],
    }).svg;
  }
}
