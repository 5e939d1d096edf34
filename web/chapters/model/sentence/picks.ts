import { child, hintScroll, html } from '../../../ui/dom';
import { draw } from '../../../ui/queue';
import { placeOf } from '../../../heads/brush';
import { placeName, type PlacedHead } from '../../../heads/registry';
import type { Checkpoints } from '../opening/checkpoints';
import { columnOf, type Found } from '../table/columns';
import { EXAMPLES, excess, type Example } from '../patterns/patterns';
import { briefOf } from '../patterns/words';
import type { HeadMeasurements } from '../reading/measurements';
import type { Store } from '../state';

type Value = (head: PlacedHead, found: Found) => number;

const valueIn =
  (column: string): Value =>
  (head, found) =>
    columnOf(column).value(head, found);
const onText = valueIn('text_entropy');

/** On the passages where that is known, else on the typed text. */
const entropy: Value = (head, found) => {
  const value = valueIn('entropy')(head, found);
  return Number.isNaN(value) ? onText(head, found) : value;
};

/** What each button says, what its tooltip says, and what is largest for the head that it chooses. */
const PICKS: readonly { name: string; help: string; value: Value }[] = [
  { name: 'Sharpest', help: 'the head of the lowest measured entropy', value: (head, found) => -entropy(head, found) },
  { name: 'Most uniform', help: 'the head of the highest measured entropy', value: entropy },
  {
    name: 'Largest sink',
    help: 'the head with the most weight on the first token and the separator of the sentence',
    value: valueIn('text_sink'),
  },
  {
    name: 'Least explained',
    help: 'the head whose measured entropy is farthest from what the chosen level predicts',
    value: (head, found) => Math.abs(valueIn('predicted')(head, found) - valueIn('entropy')(head, found)),
  },
];

/** Which head does what an example is about, on the text that was read. */
function valueOf({ find }: Example): Value {
  if (find === 'all') return onText;
  return (head, { measurements }) => {
    const found = measurements.patternsOf(head)?.find(({ kind }) => kind === find);
    return found ? excess(found) : NaN;
  };
}

/**
 * One-click picks of sentences with a head worth seeing on each, and of heads that stand out, named by what they
 * attend to; these can be pressed once their numbers are known of all heads.
 */
export class Picks {
  private buttons = PICKS.map(({ name }) => html('button', { type: 'button', className: 'small', textContent: name }));
  private examples = EXAMPLES.map(({ name, reading }) =>
    html('button', { type: 'button', className: 'small', textContent: name, title: reading }),
  );
  /** Was pressed, and waits for its text to be read. */
  private pressed: Example | null = null;

  constructor(
    private store: Store,
    private checkpoints: Checkpoints,
    private measurements: HeadMeasurements,
  ) {
    const [picks, examples] = [child(document, '[data-picks]'), child(document, '[data-examples]')];
    picks.append(...this.buttons);
    examples.append(...this.examples);
    hintScroll(picks.parentElement!);
    hintScroll(examples);
    this.buttons.forEach((button, i) => button.addEventListener('click', () => this.choose(PICKS[i].value)));
    this.examples.forEach((button, i) =>
      button.addEventListener('click', () => {
        this.pressed = EXAMPLES[i];
        store.set({ reading: EXAMPLES[i].reading });
        this.answer();
      }),
    );
    measurements.changed.subscribe(() => {
      this.answer();
      draw(this.follow);
    });
    checkpoints.changed.subscribe(() => draw(this.follow));
    store.changed.subscribe(({ names }) => {
      if (this.pressed?.reading !== store.state.reading) this.pressed = null;
      if (names.has('head') || names.has('level') || names.has('reading')) draw(this.follow);
    });
    this.follow();
  }

  /** Chooses the head of the example that was pressed, once its text is read. */
  private answer(): void {
    const { pressed } = this;
    if (!pressed || this.measurements.reading !== pressed.reading) return;
    this.pressed = null;
    this.choose(valueOf(pressed));
  }

  private choose(value: Value): void {
    const head = this.best(value);
    if (!head) return;
    this.store.set({ head: head.id });
    // On a phone it is below the buttons.
    child(document, '#figure-head-text .chart').scrollIntoView({ block: 'nearest' });
  }

  private follow = (): void => {
    const { head } = this.store.state;
    const { readsText } = this.measurements;
    this.examples.forEach((button, i) => {
      button.setAttribute('aria-pressed', String(this.shows(EXAMPLES[i])));
    });
    this.buttons.forEach((button, i) => {
      const { name, help, value } = PICKS[i];
      const best = this.best(value);
      button.hidden = !best && !readsText;
      button.disabled = !best;
      const does = best && briefOf(onText(best, this.found), this.measurements.patternOf(best));
      button.title = best ? [help, does].filter(Boolean).join(': ') : `${help}: being measured`;
      button.textContent = best ? `${name}: ${placeName(best)}` : name;
      button.setAttribute('aria-pressed', String(best !== null && best.id === head));
    });
  };

  /** The sentence of the example is typed and was read, and the head that is shown is the one that it is about. */
  private shows(example: Example): boolean {
    const { checkpoints, measurements, store } = this;
    if ([store.state.reading, measurements.reading].some((it) => it !== example.reading)) return false;
    const best = this.best(valueOf(example));
    return best !== null && placeOf(best) === placeOf(checkpoints.head(store.state.head));
  }

  private get found(): Found {
    return { measurements: this.measurements, state: this.store.state };
  }

  /** The head of the largest value; null while it is not known of all heads. */
  private best(value: Value): PlacedHead | null {
    let best: PlacedHead | null = null;
    let most = -Infinity;
    for (const head of this.checkpoints.model.heads) {
      const its = value(head, this.found);
      if (Number.isNaN(its)) return null;
      if (its > most) [best, most] = [head, its];
    }
    return best;
  }
}
