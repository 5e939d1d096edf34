// The figure of a lab: two charts side by side, with the sentence that its numbers fill.
import type { Markish, ScaleOptions } from '@observablehq/plot';
import type { Input, JobName } from '../../engine/protocol';
import type { Entry } from '../../charts/legend';
import { chartWithLegend, compose, gridX, gridY } from '../../charts/plot';
import { tableOfRows, type Table } from '../../charts/table';
import { pick, type Values, areEqual } from '../../state/control';
import { child } from '../../ui/dom';
import { Frame } from '../../ui/frame';
import { builtAnswers, type Built, type Files } from './files';
import { answerFrom, find, inputsOf, type Lab } from './lab';
import { usesView, type Figure, type FigureContext, type State, type Store } from './state';

/** Below this width the two charts of a lab stand one above the other. */
const NARROW = 640;

/** Class of a sentence whose numbers are those of the settings before. */
const BEFORE = 'before';

type Name = keyof State & string;

/** One of the two charts of a lab. */
export interface Panel {
  label: string;
  entries: Entry[];
  x: ScaleOptions;
  y: ScaleOptions;
  marks: Markish[];
}

/** What a room shows of the answer of its lab. */
export interface Drawing<Answer> {
  /** The title of another answer than that to the defaults, whose finding is the title on the page. */
  topic: string;
  /** Settings that are no larger than these while a control is dragged. */
  quick?: Partial<Record<{ [N in keyof State]: State[N] extends number ? N : never }[keyof State], number>>;
  /** Settings that only choose what is shown of an answer. */
  repaintOn?: readonly Name[];
  /** It reads text with the checkpoint that is open. */
  onModel?: boolean;
  /** Published models and a text for the operations. Throws as `load`. */
  files?(state: Readonly<State>): Promise<Files>;
  /** Whether all points of a partial answer have a number; without it, where each row has a training run. */
  isShown?(answer: Answer): boolean;
  panels(answer: Answer, state: Readonly<State>): readonly [Panel, Panel];
  /** The sentence above the charts. */
  claim(answer: Answer, state: Readonly<State>): string;
  /** What stands below the charts. */
  caption(answer: Answer, state: Readonly<State>): string;
  /** Without it, the rows of the answer. */
  table?(answer: Answer): Table;
}

const rowsOf = (answer: object) => ('rows' in answer ? (answer.rows as object[]) : []);

/** Whether an answer has a number in each of its rows: those of training runs come one run after the other. */
export function isInEveryRow(answer: object): boolean {
  return rowsOf(answer).every((row) => !('trainings' in row) || row.trainings !== 0);
}

/** The number of training runs behind the point that has fewest. */
export const trainingRuns = ({ rows }: { rows: readonly { trainings: number }[] }) =>
  Math.min(...rows.map(({ trainings }) => trainings));

/** The state that is asked about, with small settings while a control is dragged. */
function askedState({ state, quality }: FigureContext, quick: object): Readonly<State> {
  if (quality === 'full') return state;
  const least = ([name, most]: [string, number]) => [name, Math.min(most, Number(state[name as Name]))];
  return { ...state, ...Object.fromEntries(Object.entries<number>(quick as Record<string, number>).map(least)) };
}

export class LabFigure<Answer extends object> implements Figure {
  readonly inputs: readonly Name[];
  readonly repaintOn: readonly Name[];
  readonly frame: Frame;
  private finding: string;
  private claim: HTMLElement;
  /** Stands before the caption of the page where the answer is not that to the defaults, which the caption describes. */
  private scope = Object.assign(document.createElement('span'), {
    textContent: 'This caption describes the default settings. ',
    hidden: true,
  });
  private answer: Answer | null = null;
  /** The state whose answer it is. */
  protected answered: Readonly<State> = usesView.defaults;

  constructor(
    private lab: Lab<Answer>,
    private drawing: Drawing<Answer>,
    private store: Store,
  ) {
    this.inputs = inputsOf(lab) as Name[];
    this.repaintOn = drawing.repaintOn ?? [];
    this.frame = new Frame(lab.figure, () => this.table());
    this.finding = this.frame.name;
    this.claim = child(this.frame.root, '[data-claim]');
    child(this.frame.root, 'figcaption').prepend(this.scope);
  }

  get id() {
    return this.lab.figure;
  }

  /** The answer of the build that is shown in a state; none where it is to be computed. Throws as `loadJson`. */
  protected async builtFor(state: Readonly<State>): Promise<Built<Answer> | undefined> {
    const answers = await builtAnswers<Answer>(this.id);
    return answers.find((built) => this.isIn(state, built.state));
  }

  /** Whether a state asks the same as one that differs so from the defaults. */
  protected isIn(state: Readonly<State>, difference: Partial<Values>): boolean {
    return areEqual(pick(state, this.inputs), pick({ ...usesView.defaults, ...difference }, this.inputs));
  }

  protected async files(state: Readonly<State>): Promise<Files> {
    return (await this.drawing.files?.(state)) ?? {};
  }

  /** What the caption begins with. */
  protected before(): string {
    return '';
  }

  async compute(context: FigureContext): Promise<void> {
    const take = (answer: Answer, state = context.state) => {
      this.answer = answer;
      this.answered = state;
      this.claim.classList.remove(BEFORE);
    };
    const built = await this.builtFor(context.state);
    if (context.signal.aborted) return;
    if (built) return take(built.answer, { ...context.state, ...usesView.defaults, ...built.state });
    this.claim.classList.add(BEFORE);
    const { isShown = isInEveryRow, quick = {} } = this.drawing;
    const files = await this.files(context.state);
    const parts = Object.keys(this.lab.questions);
    const outputs: Record<string, unknown> = {};
    const shares: Record<string, number> = {};
    const ask = (operation: JobName, settings: object, part: string) =>
      context.run(operation, { ...settings, ...files } as Input<JobName>, (output, progress) => {
        outputs[part] = output;
        shares[part] = progress;
        if (parts.some((other) => !(other in outputs))) return;
        const answer = answerFrom<Answer>(outputs);
        if (!isShown(answer)) return; // the answer before stays until there is one to put in its place
        take(answer);
        context.show(parts.reduce((sum, other) => sum + shares[other], 0) / parts.length);
      });
    take(await find(this.lab, askedState(context, quick), ask));
  }

  paint(): void {
    const { answer, frame, drawing } = this;
    const { state } = this.store;
    if (!answer) return;
    const wide = frame.width >= NARROW;
    const width = wide ? Math.floor(frame.width / 2) : frame.width;
    const panels = drawing.panels(answer, state).map((panel) => this.draw(panel, width));
    const heights = panels.map(({ viewBox }) => viewBox.baseVal.height);
    const most = Math.max(...heights);
    const parts = panels.map((svg, i) => ({
      svg,
      x: wide ? i * width : 0,
      y: wide ? most - heights[i] : i * heights[0],
    }));
    const height = wide ? most : heights[0] + heights[1];
    const claim = drawing.claim(answer, state);
    const caption = this.before() + drawing.caption(answer, state);
    this.claim.textContent = claim;
    frame.put(compose(parts, { width: frame.width, height }, `${claim} ${caption}`));
    frame.say(caption);
    const isDefault = this.isIn(this.answered, {});
    this.scope.hidden = isDefault;
    frame.retitle(isDefault ? this.finding : drawing.topic);
  }

  table(): Table | null {
    const { answer, drawing } = this;
    return answer && (drawing.table?.(answer) ?? tableOfRows(rowsOf(answer)));
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
