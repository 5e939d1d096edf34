import type { CheckpointFiles, Remote } from '../../engine/protocol';
import type { Signal } from '../../state/signal';
import { load } from '../../engine/shipped';

/** The files of one checkpoint, and what the page calls it. */
export interface Checkpoint extends CheckpointFiles {
  name: string;
  model: (File | Remote)[];
  index: File | null;
  config: File | null;
  tokenizer: File | null;
  /** preprocessor_config.json of a vision model. */
  preprocessor: File | null;
  /** trainer_state.json of the Trainer of Hugging Face. */
  trainer_state?: File | null;
  /** Name of its folder, or its revision: checkpoint-N and stepN have the step of a training run. */
  folder?: string;
  /** The model type whose conventions a person has chosen; without it that of config.json. */
  model_type?: string;
  /** The only stack that is read, of a file with several. */
  stack?: string;
  /** The LoRA adapter among the files of `model`, which changes the weights of the others. */
  adapter?: { model: File; config: File };
}

/** What operations take of a checkpoint that need no text. */
export function weightsOf({ model, index, config, model_type = '', stack = '' }: Checkpoint) {
  return { model, index, config, model_type, stack };
}

/** What operations take of a checkpoint that run it on text. */
export function readerOf(checkpoint: Checkpoint) {
  return { ...weightsOf(checkpoint), tokenizer: checkpoint.tokenizer };
}

/** Which checkpoint a person has opened. */
export interface OpenedCheckpoint {
  /** Null while there is none. */
  readonly files: Checkpoint | null;
  readonly changed: Signal<boolean>;
}

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
