import type { Head } from '../engine/protocol';
import type { HeadState } from '../state/heads';
import type { Store } from '../state/store';

/** Where a head is, as layer.head, or stack.layer.head in a model with several stacks. */
export function placeOf({ stack, layer, head }: Pick<Head, 'stack' | 'layer' | 'head'>): string {
  return `${stack ? `${stack}.` : ''}${layer}.${head}`;
}

/** The places in a list with commas between them. */
export const placesIn = (list: string): Set<string> => new Set(list.split(',').filter(Boolean));

/** The brushed heads of a state, by their places; none means that all are shown alike. */
export const brushed = ({ brush }: { brush: string }): ReadonlySet<string> => placesIn(brush);

/** Brushes these heads alone. */
export function brushOnly(store: Store<HeadState>, heads: Iterable<string>): void {
  store.set({ brush: [...new Set(heads)].join() });
}

/** Adds a head to the brushed ones, or takes it away. */
export function toggle(store: Store<HeadState>, place: string): void {
  const rest = placesIn(store.state.brush);
  if (!rest.delete(place)) rest.add(place);
  brushOnly(store, rest);
}

/** Whether a click brushes a head instead of choosing it. */
export function isBrushing({ shiftKey, ctrlKey, metaKey }: MouseEvent): boolean {
  return shiftKey || ctrlKey || metaKey;
}
