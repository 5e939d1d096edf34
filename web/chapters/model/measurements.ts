import { Signal } from '../../state/signal';
import type { Attended, Head, Predicted, TokensSource } from '../../engine/protocol';

/** What the heads of the model on the figures were found to do on text. */
export class HeadMeasurements {
  /** Predicted against measured; null where nothing is known. */
  predictions: Predicted | null = null;
  /** What the question asked last gave with each source of statistics: those that were computed. */
  readonly sources = new Map<TokensSource, Predicted>();
  /** On the text that was typed. */
  text: Attended | null = null;
  /** Why the model can read no text, in words; '' where it can or that is not known yet. */
  unreadable = '';
  readonly changed = new Signal();

  set(found: Partial<Pick<HeadMeasurements, 'predictions' | 'text' | 'unreadable'>>): void {
    Object.assign(this, found);
    this.changed.send();
  }
}

/** Where a head is in the arrays of predictions; -1 where they do not have it, or are not there. */
export function indexOf({ layer, head }: Pick<Head, 'layer' | 'head'>, predictions: Predicted | null): number {
  if (!predictions) return -1;
  return predictions.layer.findIndex((it, i) => it === layer && predictions.head[i] === head);
}

/** The row of a head among rows that name theirs. */
export function rowOf<Row extends Pick<Head, 'layer' | 'head'>>(
  { layer, head }: Pick<Head, 'layer' | 'head'>,
  rows: readonly Row[],
): Row | undefined {
  return rows.find((row) => row.layer === layer && row.head === head);
}
