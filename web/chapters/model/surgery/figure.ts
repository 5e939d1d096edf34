// A head whose spectrum two handles change: its attention on the typed sentence, and what is predicted and measured.
import { short } from '../../../charts/format';
import { MatrixPicture } from '../../../charts/matrix';
import type { Table } from '../../../charts/table';
import type { Pool } from '../../../engine/pool';
import type { Output } from '../../../engine/protocol';
import { placeOf } from '../../../heads/brush';
import { placeName } from '../../../heads/registry';
import { child, html } from '../../../ui/dom';
import { Frame } from '../../../ui/frame';
import { weightText } from '../../shared/attention';
import { readerOf } from '../../shared/checkpoint';
import type { TextSource } from '../../shared/text-source';
import { missingOf } from '../files/files';
import { drawAttention } from '../head-text/figure';
import type { Checkpoints } from '../opening/checkpoints';
import { shown } from '../patterns/words';
import { PASSAGE, QUERIES } from '../reading/reading';
import type { Figure, FigureContext, Store } from '../state';

type Edited = Output<'edit-head'>;

/** Passages of the statistics, and as many that are measured: fewer than of predictions, since a person waits. */
const PASSAGES = 8;
/** Pixels of the matrix. */
const SIDE = 440;
/** What is told of the head, and the fields of a row with it; the spectrum is known, not predicted. */
const ROWS = [
  { name: 'Localization L', fields: ['predicted_localization', 'measured_localization'] },
  { name: 'Entropy', fields: ['predicted_entropy', 'measured_entropy'] },
  { name: 'Sink score', fields: ['predicted_sink', 'measured_sink'] },
  { name: 'Mean', fields: ['mean'] },
  { name: 'Variance', fields: ['variance'] },
] as const;
const WHICH = ['trained', 'changed'];
/** With soft hyphens: a phone has no room for the whole words. */
const MEANS = ['predic\u00adted', 'meas\u00adured'];

export class SurgeryFigure implements Figure {
  readonly id = 'surgery';
  readonly inputs = ['reading', 'head', 'added_mean', 'shrunk', 'seed'] as const;
  readonly repaintOn = [] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private matrix = new MatrixPicture(this.frame.chart, (row, column, value) => this.say(row, column, value));
  private note = child(this.frame.root, '[data-surgery-note]');
  private effects = child<HTMLTableElement>(this.frame.root, '[data-effects]');
  /** The head that was prepared last, and of what. */
  private prepared: { of: readonly unknown[]; bytes: Uint8Array } | null = null;
  private answer: { name: string; found: Edited } | null = null;
  /** What was asked last. */
  private asked: readonly unknown[] | null = null;

  constructor(
    private store: Store,
    private pool: Pool,
    private checkpoints: Checkpoints,
    private texts: TextSource,
  ) {
    const load = child<HTMLButtonElement>(document, '[data-action="load-sample"]');
    const button = child<HTMLButtonElement>(this.note, 'button');
    button.addEventListener('click', () => load.click());
    const [groups, titles] = [html('tr', {}, html('td', {})), html('tr', {}, html('td', {}))];
    for (const textContent of WHICH) {
      groups.append(html('th', { scope: 'colgroup', colSpan: 2, textContent }));
      titles.append(...MEANS.map((textContent) => html('th', { scope: 'col', textContent })));
    }
    this.effects.tHead!.append(groups, titles);
  }

  /** What the head that is asked for is prepared from; null where the model cannot be run. */
  private get question(): readonly [files: object, place: string, reading: string, seed: number] | null {
    const { files } = this.checkpoints;
    const { head, reading, seed } = this.store.state;
    return files && !missingOf(files) ? [files, placeOf(this.checkpoints.head(head)), reading, seed] : null;
  }

  /** Another head or sentence is wanted than was asked last. */
  get isStale(): boolean {
    return !isSame(this.question, this.asked);
  }

  async compute({ state, signal, show }: FigureContext): Promise<void> {
    const of = this.question;
    this.asked = of;
    const { files, model } = this.checkpoints;
    if (!of || !files) return void (this.answer = null);
    const [, head, text, seed] = of;
    const name = `${model.name}, ${placeName(this.checkpoints.head(state.head))}`;
    const reader = readerOf(files);
    if (!this.prepared || !isSame(of, this.prepared.of)) {
      const { bytes: file } = await this.texts.load();
      const passages = { file, length: PASSAGE, fit_length: true, passages: PASSAGES, queries: QUERIES };
      const onPartial = (_: unknown, progress: number) => show(progress);
      const input = { ...reader, ...passages, head, text, seed };
      const bytes = await this.pool.call<'edit-head', Uint8Array>(
        'edit-head',
        input,
        { number: 0 },
        { signal, onPartial },
      );
      this.prepared = { of, bytes };
    }
    const { added_mean, shrunk } = state;
    const found = { found: [this.prepared.bytes] };
    const answer = await this.pool.call('edit-head', { ...reader, added_mean, shrunk }, found, { signal });
    this.answer = { name, found: answer };
  }

  paint(): void {
    const { frame, answer, question } = this;
    this.tellWhatIsMissing();
    this.effects.hidden = !answer || !question;
    if (!answer || !question) return frame.clear();
    const { tokens, weights, rows } = answer.found;
    this.fill(rows);
    const caption =
      `${answer.name}: norm of the change ${short(rows[1].size)} of ‖A‖. ` +
      `Numbers from ${PASSAGES} passages of the text for the statistics and ${PASSAGES} that are measured.`;
    drawAttention(frame, this.matrix, { tokens, weights }, () => Math.min(frame.width, SIDE), caption);
    frame.say(caption);
  }

  table(): Table | null {
    if (!this.answer) return null;
    const fields = ROWS.flatMap(({ fields }) => [...fields]);
    const { rows } = this.answer.found;
    return { columns: ['head', ...fields], rows: rows.map((row, i) => [WHICH[i], ...fields.map((it) => row[it])]) };
  }

  private tellWhatIsMissing(): void {
    const { files } = this.checkpoints;
    this.note.hidden = this.question !== null;
    if (this.note.hidden) return;
    const load = child<HTMLButtonElement>(document, '[data-action="load-sample"]');
    const button = child<HTMLButtonElement>(this.note, 'button');
    button.hidden = files !== null || load.hidden;
    button.textContent = load.textContent;
    child(this.note, 'span').textContent = files ? missingOf(files) : 'Surgery needs the weights of the model.';
  }

  private fill(rows: Edited['rows']): void {
    const lines = ROWS.map(({ name, fields }) => {
      const line = html('tr', {}, html('th', { scope: 'row', textContent: name }));
      for (const row of rows) {
        const cells = fields.map((field) => html('td', { textContent: short(row[field] ?? NaN) }));
        if (cells.length === 1) cells[0].colSpan = 2;
        line.append(...cells);
      }
      return line;
    });
    this.effects.tBodies[0].replaceChildren(...lines);
  }

  private say(row: number, column: number, value: number): string {
    const tokens = (this.answer?.found.tokens ?? []).map(shown);
    return weightText(tokens, row, column, value);
  }
}

function isSame(a: readonly unknown[] | null, b: readonly unknown[] | null): boolean {
  return a === b || (a !== null && b !== null && a.every((it, i) => it === b[i]));
}
