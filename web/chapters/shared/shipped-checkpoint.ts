import { load } from '../../engine/shipped';
import type { Checkpoint } from './checkpoint';

/** The files of a checkpoint that come with the page; null where this page does not have them. */
type CheckpointParts = Record<'model.safetensors' | 'config.json' | 'tokenizer.json', ShippedParts | null>;

/** These files as a checkpoint named `name`. Throws as `load`, and where the page does not have them. */
export async function loadCheckpoint(name: string, parts: CheckpointParts): Promise<Checkpoint> {
  const [model, config, tokenizer] = await Promise.all(
    (['model.safetensors', 'config.json', 'tokenizer.json'] as const).map(async (file) => {
      const part = parts[file];
      if (!part) throw new Error(`this page has no ${file} of ${name}`);
      return new File([await load({ ...part, name: `${file} of ${name}` })], file);
    }),
  );
  return { name, model: [model], index: null, config, tokenizer, preprocessor: null };
}
