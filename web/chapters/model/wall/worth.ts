// What heads are worth: the outcome of the typed text as trained, and with the heads of the state switched off.
import { fixed, short } from '../../../charts/format';
import type { Attended } from '../../../engine/protocol';
import { placeOf, placesIn } from '../../../heads/brush';
import { placeName } from '../../../heads/registry';
import { quoted } from '../../../state/described';
import { weightsBytes } from '../../shared/sample-weights';
import { child, html } from '../../../ui/dom';
import { draw } from '../../../ui/queue';
import { shown } from '../patterns/words';
import { missingOf } from '../files/files';
import type { Checkpoints } from '../opening/checkpoints';
import type { HeadMeasurements } from '../reading/measurements';
import { typed } from '../reading/reading';
import type { FigureContext, Store } from '../state';

export class HeadWorth {
  private root = child(document, '[data-worth]');
  private words = child(this.root, '[data-worth-words]');
  private grid = child<HTMLTableElement>(this.root, 'table');
  private toggle = child<HTMLButtonElement>(document, '[data-action="ablate"]');
  private restore = child<HTMLButtonElement>(this.root, '[data-action="restore"]');
  private all = child<HTMLButtonElement>(this.root, '[data-action="worth"]');
  /** The last answer, and the question of the state that it answers. */
  private answer: { of: string; found: Attended } | null = null;
  private refused = '';
  /** A person has asked for the worth of every head of the text that is typed. */
  private asked = '';

  constructor(
    private store: Store,
    private checkpoints: Checkpoints,
    private measurements: HeadMeasurements,
    request: () => void,
  ) {
    this.toggle.addEventListener('click', () => {
      const heads = placesIn(store.state.ablate);
      const place = this.place();
      if (!heads.delete(place)) heads.add(place);
      store.set({ ablate: [...heads].join() });
    });
    this.restore.addEventListener('click', () => store.set({ ablate: '' }));
    this.all.addEventListener('click', () => {
      this.asked = this.question();
      request();
    });
    store.changed.subscribe(({ names }) => {
      if ((['head', 'ablate', 'ablation', 'ablation_level', 'reading'] as const).some((name) => names.has(name)))
        draw(this.follow);
    });
    for (const source of [checkpoints, measurements]) source.changed.subscribe(() => draw(this.follow));
    this.follow();
  }

  private place(): string {
    return placeOf(this.checkpoints.head(this.store.state.head));
  }

  /** What is asked beside the heads that are switched off. */
  private question(): string {
    const { reading, ablation, ablation_level: level } = this.store.state;
    return [this.checkpoints.model.key, this.checkpoints.model.name, ablation, level, reading].join(' ');
  }

  /**
   * Asks for the outcome of the typed text without the heads that are switched off, and for the worth of every head
   * where a person has pressed the button. The outcome with all heads comes with their attention.
   */
  async compute(context: FigureContext): Promise<void> {
    const { files } = this.checkpoints;
    this.refused = '';
    if (!files || missingOf(files) || this.measurements.onlyPictures) return;
    const { reading: text, ablate, ablation, ablation_level } = context.state;
    const of = this.question();
    const input = { ...typed(files, text), ablation, ablation_level };
    try {
      if (ablate) {
        const found = await context.run('attend', { ...input, ablate });
        this.answer = { of: `${of} ${ablate}`, found };
        draw(this.follow);
        context.show(1);
      }
      if (this.asked !== of || this.measurements.worth?.of === of) return;
      const take = ({ heads }: Attended) => this.measurements.set({ worth: { of, heads } });
      take(await context.run('attend', { ...input, ablate: 'each' }, take));
    } catch (error) {
      if ((error as Error).name !== 'FormatError') throw error;
      this.refused = (error as Error).message;
      draw(this.follow);
    }
  }

  private follow = (): void => {
    const { state } = this.store;
    const off = placesIn(state.ablate);
    const { measurements } = this;
    this.root.hidden = this.toggle.hidden = !measurements.readsText;
    const name = placeName(this.checkpoints.head(state.head));
    const isOff = off.has(this.place());
    this.toggle.textContent = `${isOff ? 'Switch on' : 'Switch off'} ${name}`;
    this.toggle.setAttribute('aria-pressed', String(isOff));
    this.restore.hidden = off.size === 0;
    this.all.hidden = !this.checkpoints.files;
    this.words.textContent = this.refused || this.text(off);
    this.fill();
  };

  /** The answer to what the state asks; null while it is not known. */
  private get found(): Attended | null {
    const { ablate, reading } = this.store.state;
    if (ablate) return this.answer?.of === `${this.question()} ${ablate}` ? this.answer.found : null;
    const { text, isPartial, noOutcome, reading: read } = this.measurements;
    const isKnown = this.checkpoints.files && read === reading && !isPartial && !noOutcome;
    return isKnown && text?.patch_side === 0 ? text : null;
  }

  private text(off: ReadonlySet<string>): string {
    const { state } = this.store;
    const [place] = off;
    const head = this.checkpoints.model.heads.find((it) => placeOf(it) === place);
    const without = off.size === 1 && head ? placeName(head) : `heads ${[...off].join(', ')} (layer.head)`;
    const { found } = this;
    if (found) return outcomeText(found, off.size > 0 ? without : '');
    if (this.checkpoints.files)
      return off.size > 0 ? `The text is run without ${without}.` : this.measurements.noOutcome;
    if (off.size === 0) return UNCHANGED;
    // The build knows what each head of the sample is worth to the example sentences.
    const worth = head && this.measurements.worthOf(head);
    const change = worth?.output_change ?? NaN;
    if (off.size === 1 && state.ablation === 'zero' && Number.isFinite(change)) {
      return turnText(without, change);
    }
    return `This needs the sample’s weights${weightsBytes ? ': type a sentence of your own and load the sample.' : '.'}`;
  }

  /** The most probable tokens. */
  private fill(): void {
    const predictions = this.found?.predictions ?? [];
    const hasOther = predictions.some((it) => it.probability_without !== null);
    this.grid.hidden = predictions.length === 0;
    const titles = ['Token', 'Probability', ...(hasOther ? ['Without'] : [])];
    const head = titles.map((textContent) => html('th', { scope: 'col', textContent }));
    this.grid.tHead?.replaceChildren(html('tr', {}, ...head));
    const rows = predictions.map(({ token, probability, probability_without: other }) => {
      const row = html('tr', {}, html('th', { scope: 'row', textContent: quoted(shown(token)) }));
      for (const value of hasOther ? [probability, other ?? NaN] : [probability]) {
        const cell = html('td', { textContent: fixed(value, 3) });
        cell.style.setProperty('--share', String(value));
        row.append(cell);
      }
      return row;
    });
    this.grid.tBodies[0].replaceChildren(...rows);
  }
}

/** What is said before a head is switched off. */
const UNCHANGED = 'Switch off a head to see the angle by which the mean token after the last layer changes.';

/** The angle by which the mean token changes. */
function turnText(without: string, change: number): string {
  const degrees = (Math.acos(Math.min(1, 1 - change)) * 180) / Math.PI;
  return (
    `Without ${without} the mean token after the last layer, the sentence’s embedding in a sentence encoder, changes by ` +
    `${fixed(degrees, 1)}° (cosine ${fixed(1 - change, 4)}).`
  );
}

/** The outcome in sentences; `without` names the heads that are switched off, '' for none. */
function outcomeText(found: Attended, without: string): string {
  const { outcome, loss, loss_without: other, output_change: change } = found;
  const turn = without && change !== null ? turnText(without, change) : '';
  if (outcome === 'embedding') {
    return turn || UNCHANGED;
  }
  if (outcome === 'masked-token') {
    const masks =
      found.predictions.length > 0
        ? 'Most probable tokens at the first mask:'
        : 'Write [MASK] to see what the model predicts there.';
    return [turn, masks].filter(Boolean).join(' ');
  }
  const as = loss === null ? '' : `Loss of this text: ${short(loss)} nats per token`;
  const changed = as && other !== null ? `, ${short(other)} without ${without}` : '';
  return `${as}${changed}${as ? '. ' : ''}Most probable next tokens:`;
}
