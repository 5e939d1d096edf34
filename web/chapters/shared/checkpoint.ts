import type { CheckpointFiles, Remote } from '../../engine/protocol';
import type { Signal } from '../../state/signal';

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
