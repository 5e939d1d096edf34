import hard1 from '../../../models/hard-retrieval/hard-seed1.safetensors?shipped';
import hard2 from '../../../models/hard-retrieval/hard-seed2.safetensors?shipped';
import hard3 from '../../../models/hard-retrieval/hard-seed3.safetensors?shipped';
import hard4 from '../../../models/hard-retrieval/hard-seed4.safetensors?shipped';
import softmax1 from '../../../models/hard-retrieval/softmax-seed1.safetensors?shipped';
import softmax2 from '../../../models/hard-retrieval/softmax-seed2.safetensors?shipped';
import softmax3 from '../../../models/hard-retrieval/softmax-seed3.safetensors?shipped';
import softmax4 from '../../../models/hard-retrieval/softmax-seed4.safetensors?shipped';

/** The published models. */
export const RETRIEVAL_MODELS = { softmax1, softmax2, softmax3, softmax4, hard1, hard2, hard3, hard4 };
