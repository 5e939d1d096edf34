// A second trained model, which the build converts. The page of a single file does not have it.
import config from '../../generated/use-lite/config.json?shipped-beside';
import weights from '../../generated/use-lite/model.safetensors?shipped-beside';
import tokenizer from '../../generated/use-lite/tokenizer.json?shipped-beside';
import { loadCheckpoint } from '../shared/shipped-checkpoint';

const name = 'Universal Sentence Encoder-lite';

export const USE_LITE = {
  name,
  /** Of the weights; 0 where the page does not have them. */
  bytes: weights?.bytes ?? 0,
  /** Throws as `loadCheckpoint`. */
  load: () =>
    loadCheckpoint(name, { 'model.safetensors': weights, 'config.json': config, 'tokenizer.json': tokenizer }),
};
