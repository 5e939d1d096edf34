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
}

/** Which checkpoint a person has opened. */
export interface OpenedCheckpoint {
  /** Null while there is none. */
  readonly files: Checkpoint | null;
  readonly changed: Signal<boolean>;
}
