// The passages of a long text on which the chosen head has its largest weights.
import { fixed } from '../../../charts/format';
import { placeName } from '../../../heads/registry';
import { child, html } from '../../../ui/dom';
import { draw } from '../../../ui/queue';
import type { Checkpoints } from '../opening/checkpoints';
import type { HeadMeasurements } from '../reading/measurements';
import { loadSamplePassages } from '../reading/samples';
import type { Store } from '../state';
import { piecesOf, type Weight } from './words';

export class HeadPassages {
  private root = child(document, '[data-firing]');
  private list = child(this.root, 'ol');

  constructor(
    private store: Store,
    private checkpoints: Checkpoints,
    private measurements: HeadMeasurements,
  ) {
    const follow = () => draw(this.follow);
    for (const source of [checkpoints, measurements]) source.changed.subscribe(follow);
    store.changed.subscribe(({ names }) => {
      if (names.has('head')) follow();
    });
    new IntersectionObserver((entries) => {
      if (entries.at(-1)!.isIntersecting) void this.showSample();
    }).observe(this.root);
    checkpoints.changed.subscribe(() => void this.showSample());
    this.follow();
  }

  /** What the build found, unless a model is open. */
  private async showSample(): Promise<void> {
    if (this.checkpoints.files || this.measurements.corpus || !this.root.checkVisibility()) return;
    try {
      const corpus = await loadSamplePassages();
      if (!this.checkpoints.files) this.measurements.set({ corpus });
    } catch (error) {
      this.say((error as Error).message);
    }
  }

  private say(text: string): void {
    child(this.root, '[data-firing-note]').textContent = text;
  }

  private follow = (): void => {
    const { corpus, readsText } = this.measurements;
    const chosen = this.checkpoints.head(this.store.state.head);
    this.root.hidden = !readsText;
    child(this.root, '[data-firing-head]').textContent = placeName(chosen);
    const weights = corpus?.largest_weights.filter(({ layer, head }) => layer === chosen.layer && head === chosen.head);
    this.list.replaceChildren(
      ...(weights ?? []).map((weight) => itemOf(weight, corpus!.passages[weight.passage].tokens)),
    );
    this.say(weights ? `${corpus!.passages.length} passages were searched.` : 'Not computed yet.');
  };
}

function itemOf(weight: Weight, tokens: readonly string[]): HTMLElement {
  const parts = piecesOf(tokens, weight).map(({ text, role }) => {
    if (role === 'key') return html('mark', { textContent: text });
    return role === 'query' ? html('u', { textContent: text }) : text;
  });
  return html('li', {}, html('b', { textContent: fixed(weight.weight, 2) }), ' ', ...parts);
}
