import { Signal } from '../../../state/signal';
import type { Attended, Head, Predicted, TokensSource } from '../../../engine/protocol';
import { placeOf } from '../../../heads/brush';
import { Patterns, excess, tokensOf, type Pattern } from '../patterns/patterns';

type Place = Pick<Head, 'layer' | 'head'>;

/** What a text loses without a head; null where it has no loss, or where it is not known. */
export type Worth = Pick<Attended['heads'][number], 'loss_change' | 'output_change'>;

/** What a long text shows of the heads: their measures and, for each, the passages with its largest weights. */
export type Corpus = Pick<Attended, 'heads' | 'passages' | 'largest_weights'>;

/** What the heads of the model on the figures were found to do on text. */
export class HeadMeasurements {
  /** Predicted against measured; null where nothing is known. */
  predictions: Predicted | null = null;
  /** What the question asked last gave with each source of statistics: those that were computed. */
  readonly sources = new Map<TokensSource, Predicted>();
  /** On the text that was typed, or on a picture. */
  text: Attended | null = null;
  /** That text. */
  reading = '';
  /** Its first layers alone are computed. */
  isPartial = false;
  /** Why the model can read no text, in words; '' where it can or that is not known yet. */
  unreadable = '';
  /** Why the outcome of that text is not known; '' where it is, or while the text is read. */
  noOutcome = '';
  /** What `attend` computes without each head of a text, asked with `of`: the sample's text has its own. */
  worth: { of: string; heads: Attended['heads'] } | null = null;
  /** On the passages of a long text; the measures of the sample's heads are theirs from the build. */
  corpus: Corpus | null = null;
  /** The model can read pictures, and no text. */
  onlyPictures = false;
  readonly changed = new Signal();
  /** The place of the head whose pattern on the text is the clearest, which is shown while none is chosen; or ''. */
  clearest = '';
  private patterns: Patterns | null = null;

  /** False where the model is known to read none. */
  get readsText(): boolean {
    return this.unreadable === '' && !this.onlyPictures;
  }

  set(
    found: Partial<
      Pick<
        HeadMeasurements,
        | 'predictions'
        | 'text'
        | 'reading'
        | 'isPartial'
        | 'noOutcome'
        | 'unreadable'
        | 'onlyPictures'
        | 'worth'
        | 'corpus'
      >
    >,
  ): void {
    if ('text' in found) Object.assign(this, { isPartial: false, noOutcome: '', worth: null });
    Object.assign(this, found);
    if ('text' in found) this.lookAtText();
    this.changed.send();
  }

  private lookAtText(): void {
    this.patterns = this.text && this.text.patch_side === 0 ? new Patterns(tokensOf(this.text)) : null;
    if (this.isPartial) return; // another head with each layer would be shown
    const clarity = (head: Place) => this.patternsOf(head)?.reduce((most, it) => Math.max(most, excess(it)), 0) ?? 0;
    const heads = (this.text?.weights ?? []).map((head) => ({ head, clarity: clarity(head) }));
    const best = heads.reduce<(typeof heads)[0] | null>((a, b) => (a && a.clarity >= b.clarity ? a : b), null);
    this.clearest = best ? placeOf({ stack: '', ...best.head }) : '';
  }

  /** The shares of a head's attention that each kind of key gets on the text; null where none is read. */
  patternsOf(head: Place): Pattern[] | null {
    const weights = this.weightsOf(head);
    return weights && this.patterns ? this.patterns.of(weights) : null;
  }

  /** What a head attends to on the text; null where it is nothing in particular. */
  patternOf(head: Place): Pattern | null {
    const weights = this.weightsOf(head);
    return weights && this.patterns ? this.patterns.main(weights) : null;
  }

  /** What the text loses without a head: changes of the loss and of the mean token; undefined while not known. */
  worthOf(head: Place): Worth | undefined {
    return rowOf(head, this.worth?.heads ?? this.text?.heads ?? []);
  }

  /** A head's attention weights on the text, row by row. */
  weightsOf(head: Place): Float32Array | null {
    return this.text && (rowOf(head, this.text.weights)?.weights ?? null);
  }
}

/** Where a head is in the arrays of predictions; -1 where they do not have it, or are not there. */
export function indexOf({ layer, head }: Place, predictions: Predicted | null): number {
  if (!predictions) return -1;
  return predictions.layer.findIndex((it, i) => it === layer && predictions.head[i] === head);
}

/** The row of a head among rows that name theirs. */
export function rowOf<Row extends Place>({ layer, head }: Place, rows: readonly Row[]): Row | undefined {
  return rows.find((row) => row.layer === layer && row.head === head);
}
