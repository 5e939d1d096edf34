import { capitalized, short } from '../../../charts/format';
import { columnOf } from '../table/columns';
import { entryOf, referTo } from '../../../ui/registry';
import { MatrixPicture } from '../../../charts/matrix';
import type { Table } from '../../../charts/table';
import type { Attended, Head } from '../../../engine/protocol';
import { EngineError } from '../../../engine/pool';
import { placeOf } from '../../../heads/brush';
import type { Checkpoints } from '../opening/checkpoints';
import { HeadPicture, type ChosenPicture } from '../picture/picture';
import { rowOf, type HeadMeasurements } from '../reading/measurements';
import { missingOf, sourceOf } from '../files/files';
import { EXAMPLES, KINDS, Patterns, tokensOf, type Pattern } from '../patterns/patterns';
import { shown, wordsOf } from '../patterns/words';
import { attendByLayers, layersDoneText, typed } from '../reading/reading';
import { placeName } from '../../../heads/registry';
import { drawWeights, weightsTable, weightText } from '../../shared/attention';
import { weightsOf, type Checkpoint } from '../../shared/checkpoint';
import { loadSampleTexts } from '../../shared/sample-texts';
import { weightsBytes } from '../../shared/sample-weights';
import type { Values } from '../../../state/control';
import { quoted } from '../../../state/described';
import { child } from '../../../ui/dom';
import { Frame } from '../../../ui/frame';
import type { Figure, FigureContext, State, Store } from '../state';
import { readMatrix, writeMatrix, type SharedMatrix } from './shared-matrix';

/** Pixels of a row that has a name. */
const ROW = 11;
const ROOM = 74;
const LETTERS = 11;
/** Pixels of the picture's side, and of the line below it. */
const [LEAST_SIDE, MOST_SIDE, LINE] = [300, 560, 60];
/** Pixels of the figure around its picture and of the bar above: on a screen that is higher all of it is in sight. */
const AROUND = 360;

/** What a head of the model reads in a text, or in a picture. */
export class HeadTextFigure implements Figure {
  readonly id = 'head-text';
  readonly inputs = ['reading'] as const;
  readonly repaintOn = ['head', 'level'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private matrix = new MatrixPicture(this.frame.chart, (row, column, value) => this.say(row, column, value));
  private picture: HeadPicture;
  /** A picture was chosen later than a sentence was typed. */
  private prefersPicture = false;
  /** What was shown last: it is cleared for the other. */
  private reads: 'text' | 'picture' = 'text';
  private noted = '';
  /** The last answer that is not partial. */
  private whole: { files: Checkpoint; text: Attended; reading: string } | null = null;
  /** A person has cancelled since. */
  private isCancelled = false;
  private words = child(document, '[data-head-words]');
  private select = child<HTMLSelectElement>(document, '[data-head-select]');
  /** Below the sentence that is typed: it is not the one that is shown. */
  private ofSample = child(document, '[data-of-sample]');
  /** The heads among which `select` offers a choice. */
  private listed = '';

  constructor(
    private store: Store,
    private checkpoints: Checkpoints,
    private measurements: HeadMeasurements,
    chosen: ChosenPicture,
    repaint: () => void,
  ) {
    this.picture = new HeadPicture(this.frame, chosen, repaint);
    chosen.changed.subscribe(() => (this.prefersPicture = true));
    store.changed.subscribe(({ names }) => {
      if (names.has('reading')) this.prefersPicture = false;
      // The matrix of a link is of its head on its sentence.
      if (!names.has('matrix') && (names.has('reading') || names.has('head'))) store.set({ matrix: '' });
    });
    checkpoints.changed.subscribe((fresh) => {
      if (!fresh) return;
      this.prefersPicture = false;
      store.set({ matrix: '' });
    });
    // A sentence that was just typed is not read yet.
    store.carried = () => (store.state.reading === measurements.reading ? this.carried() : {}) as Values;
    this.select.addEventListener('change', () => {
      store.set({ head: `${checkpoints.model.key}:${this.select.value}` });
    });
    // The wall and the sentence may be in sight without the figure.
    measurements.changed.subscribe(() => void this.tell());
    store.changed.subscribe(({ names }) => {
      if (this.repaintOn.some((name) => names.has(name))) this.tell();
    });
    const sentence = child<HTMLInputElement>(document, '#field-model-reading');
    sentence.addEventListener('focus', () => sentence.select()); // ready to type over
  }

  shownInputs(): Partial<State> {
    if (this.shared) return {};
    return { reading: this.measurements.reading, matrix: '', ...this.carried() };
  }

  /** The link of an own model's sentence has the matrix, since whoever opens it may not have the model. */
  private carried(): Partial<State> {
    const { checkpoints, measurements, store } = this;
    const matrix = checkpoints.files && this.computed ? writeMatrix(this.computed) : '';
    if (!matrix) return {};
    const head = store.state.head || `${checkpoints.model.key}:${placeOf(this.place())}`;
    return { reading: measurements.reading, matrix, head };
  }

  /** The matrix of the link, while no model is open. */
  private get shared(): SharedMatrix | null {
    return this.checkpoints.files ? null : readMatrix(this.store.state.matrix);
  }

  /** The attention of the head on the text that was read; null where there is none. */
  private get computed(): SharedMatrix | null {
    const { text } = this.measurements;
    const weights = text && !isPicture(text) ? this.measurements.weightsOf(this.place()) : null;
    return text && weights && { tokens: tokensOf(text), weights };
  }

  async compute(context: FigureContext): Promise<void> {
    const { files } = this.checkpoints;
    if (!files) return this.showSample();
    this.isCancelled = false;
    const { pictures } = await context.run('tensors', weightsOf(files));
    this.picture.offer(pictures);
    if (pictures && (this.prefersPicture || missingOf(files))) {
      return this.lookAt(context, files, missingOf(files) !== '');
    }
    if (missingOf(files)) {
      return this.measurements.set({ text: null, unreadable: missingOf(files) });
    }
    try {
      await this.read(context, files);
    } catch (error) {
      const isUnasked = error instanceof EngineError && !error.begun;
      if (context.signal.aborted || isUnasked) this.restore(files);
      const isRefused = isUnasked && error.name === 'FormatError';
      if (!isRefused || this.measurements.text) throw error; // a model that has read some layers can be read
      if (pictures) return this.lookAt(context, files, true);
      this.measurements.set({ text: null, unreadable: error.message });
    }
  }

  /** Runs the model on the typed text, once for attention and outcome, and shows its layers as they are done. */
  private async read(context: FigureContext, files: Checkpoint): Promise<void> {
    const { reading } = context.state;
    const ask = (outcome: boolean) =>
      attendByLayers(context, { ...typed(files, reading), weights: true, outcome }, (part, progress) => {
        this.measurements.set({ text: part, reading, isPartial: true });
        context.show(progress);
      });
    let noOutcome = '';
    const text = await ask(true).catch((error) => {
      // The attention can be read where the map of the outputs is refused, which is before the first layer.
      if (error.begun || error.name !== 'FormatError') throw error;
      noOutcome = error.message;
      return ask(false);
    });
    this.measurements.set({ text, reading, noOutcome });
    this.whole = { files, text, reading };
  }

  /**
   * After a cancel, or where the newest sentence could not be read: shows the last whole answer of this model again,
   * or leaves the first layers that are shown.
   */
  private restore(files: Checkpoint): void {
    const { whole, measurements } = this;
    if (!measurements.text || this.checkpoints.files !== files) return;
    this.isCancelled = true;
    if (whole?.files === files) measurements.set({ text: whole.text, reading: whole.reading });
  }

  /** Runs the model on the chosen picture. */
  private async lookAt(context: FigureContext, files: Checkpoint, onlyPictures: boolean): Promise<void> {
    const text = await this.picture.ask(context, files);
    this.measurements.set({ text, onlyPictures });
    this.whole = { files, text, reading: this.measurements.reading };
  }

  /** Shows the sample’s answer to one of the examples, unless a model is opened meanwhile. */
  async showSample(): Promise<void> {
    const texts = await loadSampleTexts();
    if (this.checkpoints.files) return;
    const { reading } = this.store.state;
    const known = texts.has(reading) ? reading : this.measurements.reading || EXAMPLES[0].reading;
    if (known !== this.measurements.reading) this.measurements.set({ text: texts.get(known), reading: known });
  }

  /** Which sentence the figure shows where another one is typed; '' where that is not so. */
  private sampleText(): string {
    const { reading } = this.measurements;
    if (this.checkpoints.files || this.store.state.reading === reading) return '';
    if (this.shared) return 'The link has the attention of one head. Everything else is of another sentence.';
    return (
      `Shown is the attention on “${reading}”. Another sentence needs the sample’s weights` +
      (weightsBytes ? '.' : ': open a folder with its model.safetensors, config.json and tokenizer.json.')
    );
  }

  /** Offers the heads, and says beside the sentence what the chosen one does. Returns its pattern, null for none. */
  private tell(): Pattern | null {
    const { text } = this.measurements;
    this.follow();
    this.words.textContent = this.shared ? this.sharedText() : '';
    if (isPicture(text) || this.shared) return null;
    const head = !this.isElsewhere && text ? rowOf(this.place(), text.heads) : undefined;
    const pattern = head ? this.measurements.patternOf(head) : null;
    const said = head ? wordsOf(head, pattern, this.column('entropy')) : '';
    const done = text && this.measurements.isPartial ? layersDoneText(text) : '';
    const isCut = text && text.text_passages > text.passages.length;
    const cut = isCut ? `The text is longer: only its first ${tokensOf(text).length} tokens are read. ` : '';
    const choice = pattern ? this.choiceText() : '';
    this.words.textContent = `${done}${this.earlierText()}${cut}${said}${choice} ${this.elsewhere()}`.trimEnd();
    return pattern;
  }

  paint(): void {
    const { frame } = this;
    const { text } = this.measurements;
    const pattern = this.tell();
    const reads = isPicture(text) ? 'picture' : 'text';
    if (reads !== this.reads) frame.clear();
    this.reads = reads;
    this.picture.show(reads === 'picture');
    this.matrix.setPresent(reads === 'text');
    if (reads === 'picture') return this.paintPicture();
    const { shared } = this;
    frame.retitle(this.title(shared ? new Patterns(shared.tokens).main(shared.weights) : pattern));
    if (this.isElsewhere && !shared) return this.sayElsewhere();
    const found = shared ?? this.computed;
    if (!found) return frame.clear();
    this.note('');
    const caption = shared || !text ? this.sharedText() : this.caption(text);
    drawAttention(frame, this.matrix, found, (above) => this.side(above), caption);
    frame.say(caption);
  }

  private paintPicture(): void {
    const { frame, picture } = this;
    const name = placeName(this.place());
    this.note('');
    frame.retitle(`Attention of ${name} over a picture`);
    picture.paint(this.place(), this.checkpoints.model.name, Math.min(frame.width, MOST_SIDE));
  }

  table(): Table | null {
    const { text } = this.measurements;
    if (isPicture(text)) return this.picture.table(this.place());
    const found = this.shared ?? this.computed;
    if (!found) return null;
    return weightsTable(found.tokens, found.weights);
  }

  /** Offers the heads of the model, and shows the one that is looked at. */
  private follow(): void {
    const { model } = this.checkpoints;
    const key = `${model.key} ${model.name} ${model.heads.length}`;
    if (this.listed !== key) {
      this.listed = key;
      const options = model.heads.map((it) => new Option(placeName(it), placeOf(it)));
      this.select.replaceChildren(...options);
    }
    this.select.value = placeOf(this.place());
    const text = this.isElsewhere ? '' : this.sampleText();
    this.ofSample.hidden = text === '';
    child(this.ofSample, 'span').textContent = text;
  }

  /** Pixels of the picture's side: it ends on the first screen, with the line below it, where there is room. */
  private side(above: number): number {
    const { chart, width } = this.frame;
    // Not where the chart is at present: its column stays in sight while the page scrolls.
    const top = child(document, '.bench').offsetTop + chart.offsetTop;
    const room = innerHeight - top - above - LINE;
    const fitting = Math.min(room, innerHeight - AROUND);
    return Math.min(width, MOST_SIDE, fitting < LEAST_SIDE ? Infinity : fitting);
  }

  private place(): Pick<Head, 'stack' | 'layer' | 'head'> {
    return this.checkpoints.head(this.store.state.head);
  }

  /** Which text is shown where reading another one was cancelled. */
  private earlierText(): string {
    const { reading } = this.measurements;
    if (!this.isCancelled || this.store.state.reading === reading) return '';
    return `Shown is the attention on “${quoted(reading)}”. `;
  }

  /** Why this head is shown, where nobody has chosen one. */
  private choiceText(): string {
    const place = placeOf(this.place());
    const isChosen = this.store.state.head.endsWith(`:${place}`);
    return isChosen || place !== this.measurements.clearest
      ? ''
      : ' It is shown because its pattern on this text is the clearest.';
  }

  /** What to say where a link is about another model than the one that is open, or about a head that it lacks. */
  elsewhere(): string {
    const { model, head } = this.store.state;
    const { files, model: shown } = this.checkpoints;
    if (model !== '' && model !== (files ? sourceOf(files) : shown.name)) {
      return `The link is about “${quoted(model)}”, which is not the model that is open here.`;
    }
    const isOfShown = head.startsWith(`${shown.key}:`) && shown.heads.length > 0;
    if (!isOfShown || shown.heads.some(({ id }) => id === head)) return '';
    return `The model has no head “${quoted(head.slice(shown.key.length + 1))}”.`;
  }

  /** A link names a head of a checkpoint that is not open here. That of the loaded sample has the sample's name. */
  private get isElsewhere(): boolean {
    const { head, model } = this.store.state;
    return !this.checkpoints.files && head.startsWith('file:') && model !== this.checkpoints.model.name;
  }

  private sayElsewhere(): void {
    const { head, model } = this.store.state;
    const named = model ? `“${quoted(model)}”` : 'a checkpoint';
    const place = quoted(head.replace('file:', ''));
    this.frame.clear();
    this.note(
      `The link names head ${place} (layer.head) of ${named}, which is not open here: open its ` +
        'folder, its files or its URL to see the attention of the head.',
    );
  }

  /** What the head does on the text, where that can be said in a few words. */
  private title(pattern: Pattern | null): string {
    if (!pattern) return entryOf(this.id).title;
    const name = this.shared ? this.sharedName() : placeName(this.place());
    return `${capitalized(name)} attends to ${KINDS[pattern.kind].keys}`;
  }

  /** Says something beside the picture, or takes that away again; what the runner complains of stays. */
  private note(text: string): void {
    if (text || this.noted) this.frame.complain(text);
    this.noted = text;
  }

  private say(row: number, column: number, value: number): string {
    const tokens = ((this.shared ?? this.computed)?.tokens ?? []).map(shown);
    return weightText(tokens, row, column, value);
  }

  private caption(text: Attended): string {
    const { layer, head } = this.place();
    const tokens = tokensOf(text);
    const where = `${this.checkpoints.model.name}, layer ${layer}, head ${head} on ${tokens.length} tokens`;
    const found = rowOf(this.place(), text.heads);
    const outlier = text.layers[layer];
    if (!found || !outlier) return where;
    return (
      `${where}: entropy ${short(found.entropy)}, participation ${short(found.participation)}, ` +
      `mean distance ${short(found.distance)} tokens, sink ${short(found.sink)} ` +
      `(first ${short(found.sink_first)}, separator ${short(found.sink_separator)}), measured ` +
      `localization ${short(found.localization)}. Largest input of the layer: coordinate ` +
      `${outlier.outlier_coordinate} of “${tokens[outlier.outlier_position]}”, ` +
      `${short(outlier.outlier_ratio)} times the median token’s largest.${this.onPassages()}`
    );
  }

  /** The head of a link's matrix, which the open model may not have. */
  private sharedName(): string {
    const [, layer, head] = /(\d+)\.(\d+)$/.exec(this.store.state.head) ?? [];
    return head === undefined ? placeName(this.place()) : `layer ${layer}, head ${head}`;
  }

  private sharedText(): string {
    const { model, reading } = this.store.state;
    const of = model ? ` of “${quoted(model)}”` : '';
    return (
      `From the link, not computed here: ${this.sharedName()}${of} on “${quoted(reading)}”, ` +
      'weights rounded to 64 levels.'
    );
  }

  /** What a column of the table has for the head; NaN where it is not known. */
  private column(name: 'entropy' | 'predicted'): number {
    const { measurements, store } = this;
    const place = placeOf(this.place());
    const head = this.checkpoints.model.heads.find((it) => placeOf(it) === place);
    return head ? columnOf(name).value(head, { measurements, state: store.state }) : NaN;
  }

  /** What the passages say of the head, and how far that is explained; '' while it is not known. */
  private onPassages(): string {
    const measured = this.column('entropy');
    const predicted = this.column('predicted');
    const { level } = this.store.state;
    if (Number.isNaN(measured)) return '';
    const explained = Number.isNaN(predicted) ? '' : `, ${short(predicted)} predicted at level ${level}`;
    return ` On the passages of ${referTo('predictors')}: entropy ${short(measured)}${explained}.`;
  }
}

/** Draws attention weights below their legend; `sideOf` gives the pixels of the square below so many of the legend. */
export function drawAttention(
  frame: Frame,
  matrix: MatrixPicture,
  { tokens, weights }: SharedMatrix,
  sideOf: (above: number) => number,
  caption: string,
): void {
  const { length } = tokens;
  const name = (place: number) => shortened(tokens[place - 1]);
  const names = (side: number) => length * ROW < side - ROOM && { name, room: ROOM };
  drawWeights(frame, matrix, { length, values: weights }, { side: sideOf, names }, caption);
}

function isPicture(found: Attended | null): boolean {
  return found !== null && found.patch_side > 0;
}

function shortened(token: string): string {
  const text = shown(token);
  return text.length > LETTERS ? `${text.slice(0, LETTERS - 1)}…` : text;
}
