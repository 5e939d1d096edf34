import type { Regularizer } from '../../engine/protocol';
import regularizers from '../../generated/regularizers.json';

/** RegularizerFacts of the library. */
export interface RegularizerFacts {
  /** The library's parameters that only it and its kin read. */
  settings: readonly string[];
  /** Whether the query bias is free of it. */
  leaves_bias: boolean;
  /** The variance that the paper expects to fall, with a lower loss and a higher entropy; '' for no claim. */
  shrinks: '' | 'variance' | 'variance_frobenius';
}

export const REGULARIZERS = regularizers as Record<Regularizer, RegularizerFacts>;
