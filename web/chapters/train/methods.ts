// What the library says of the regularizers.
import type { Regularizer } from '../../engine/protocol';
import operations from '../../generated/operations.json';
import facts from '../../generated/regularizers.json';

/** RegularizerFacts of the library. */
interface RegularizerFacts {
  /** The library's parameters that only it and its kin read. */
  settings: readonly string[];
  /** Whether the query bias is free of it. */
  leaves_bias: boolean;
  /** The variance that the paper expects to fall, with a lower loss and a higher entropy; '' for no claim. */
  shrinks: '' | 'variance' | 'variance_frobenius';
}

export const REGULARIZERS = facts as Record<Regularizer, RegularizerFacts>;

/** The regularizers that training runs compare, and what they are called. */
export const regularizers: Record<Regularizer, string> = operations.train.choices.regularizer;
