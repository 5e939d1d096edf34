import { child, html } from '../../ui/dom';
import { draw } from '../../ui/queue';
import type { PlacedHead } from '../../heads/registry';
import type { Checkpoints } from './checkpoints';
import { columnOf, type Found } from './columns';
import type { HeadMeasurements } from './measurements';
import type { Store } from './state';

type Value = (head: PlacedHead, found: Found) => number;

/** On the passages where that is known, else on the typed text. */
const entropy: Value = (head, found) => {
  const value = columnOf('entropy').value(head, found);
  return Number.isNaN(value) ? columnOf('text_entropy').value(head, found) : value;
};

/** What each button says, what its tooltip says, and what is largest for the head that it chooses. */
const PICKS: readonly { name: string; help: string; value: Value }[] = [
  { name: 'Sharpest', help: 'the head of the lowest measured entropy', value: (head, found) => -entropy(head, found) },
  { name: 'Most uniform', help: 'the head of the highest measured entropy', value: entropy },
  {
    name: 'Largest sink',
    help: 'the head with the most weight on the first token and the separator',
    value: (head, found) => columnOf('sink').value(head, found),
  },
  {
    name: 'Least explained',
    help: 'the head whose measured entropy is farthest from what the chosen level predicts',
    value: (head, found) => Math.abs(columnOf('predicted').value(head, found) - columnOf('entropy').value(head, found)),
  },
];

/** One-click picks of heads that stand out; each can be pressed once its numbers are known of all heads. */
export class Picks {
  private buttons = PICKS.map(({ name }) => html('button', { type: 'button', className: 'small', textContent: name }));

  constructor(
    private store: Store,
    private checkpoints: Checkpoints,
    private measurements: HeadMeasurements,
  ) {
    child(document, '[data-picks]').append(...this.buttons);
    const figure = child(document, '#figure-head-text .chart');
    this.buttons.forEach((button, i) => {
      button.addEventListener('click', () => {
        const head = this.best(PICKS[i].value);
        if (!head) return;
        store.set({ head: head.id });
        figure.scrollIntoView({ block: 'nearest' }); // on a phone it is below the buttons
      });
    });
    measurements.changed.subscribe(() => draw(this.follow));
    checkpoints.changed.subscribe(() => draw(this.follow));
    store.changed.subscribe(({ names }) => {
      if (names.has('head') || names.has('level')) draw(this.follow);
    });
    this.follow();
  }

  private follow = (): void => {
    const { head } = this.store.state;
    const { unreadable } = this.measurements;
    this.buttons.forEach((button, i) => {
      const best = this.best(PICKS[i].value);
      button.hidden = !best && unreadable !== '';
      button.disabled = !best;
      button.title = best ? PICKS[i].help : `${PICKS[i].help}: being measured`;
      button.setAttribute('aria-pressed', String(best !== null && best.id === head));
    });
  };

  /** The head of the largest value; null while it is not known of all heads. */
  private best(value: Value): PlacedHead | null {
    const found = { measurements: this.measurements, level: this.store.state.level };
    let best: PlacedHead | null = null;
    let most = -Infinity;
    for (const head of this.checkpoints.model.heads) {
      const its = value(head, found);
      if (Number.isNaN(its)) return null;
      if (its > most) [best, most] = [head, its];
    }
    return best;
  }
}
