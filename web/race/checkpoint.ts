import type { Training } from '../engine/protocol';
import type { Taken } from './run';

/** The texts that a .safetensors file says of itself. The library has read the file before. */
function metadataOf(file: Uint8Array): Record<string, string> {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const header = file.subarray(8, 8 + Number(view.getBigUint64(0, true)));
  const parsed = JSON.parse(new TextDecoder().decode(header)) as {
    __metadata__?: Record<string, string>;
  };
  return parsed.__metadata__ ?? {};
}

/** Where the run of a checkpoint is, and its settings; `like` has their names and kinds. */
export function takenFrom(checkpoint: Uint8Array, like: Training): Taken {
  const said = metadataOf(checkpoint);
  const entries = Object.entries(like).map(([name, value]) => [
    name,
    typeof value === 'number' ? Number(said[name]) : said[name],
  ]);
  const training = Object.fromEntries(entries) as Training;
  return { training, step: Number(said.step), checkpoint };
}

/** config.json of the model, in GPT-2's words, as `eigenscope train` writes it. */
export function configOf(training: Training): string {
  const { depth, heads, key_heads, width, mlp, length, output, layer_norm, positions } = training;
  const config = {
    ...{ model_type: 'gpt2', activation_function: 'gelu_new', n_layer: depth, n_head: heads },
    ...{ n_head_kv: key_heads || heads, n_embd: width, n_inner: Math.round(mlp * width) },
    ...{ n_positions: length, vocab_size: 256, tie_word_embeddings: output === 'tied' },
    ...{ layer_norm, positions },
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
