import hard1 from '../../../../docs/models/hard-retrieval/hard-seed1.safetensors?shipped';
import hard2 from '../../../../docs/models/hard-retrieval/hard-seed2.safetensors?shipped';
import hard3 from '../../../../docs/models/hard-retrieval/hard-seed3.safetensors?shipped';
import hard4 from '../../../../docs/models/hard-retrieval/hard-seed4.safetensors?shipped';
import softmax1 from '../../../../docs/models/hard-retrieval/softmax-seed1.safetensors?shipped';
import softmax2 from '../../../../docs/models/hard-retrieval/softmax-seed2.safetensors?shipped';
import softmax3 from '../../../../docs/models/hard-retrieval/softmax-seed3.safetensors?shipped';
import softmax4 from '../../../../docs/models/hard-retrieval/softmax-seed4.safetensors?shipped';
import { load } from '../../../engine/shipped';
import { bookText } from '../../shared/text-source';

const MODELS = { softmax1, softmax2, softmax3, softmax4, hard1, hard2, hard3, hard4 };

/** The published models and the text that they were trained on, fetched when first asked for. */
export async function modelsAndText() {
  const [{ bytes: text }, ...runs] = await Promise.all([
    bookText(),
    ...Object.entries(MODELS).map(async ([name, file]) => new File([await load({ ...file, name })], name)),
  ]);
  return { runs, text };
}
