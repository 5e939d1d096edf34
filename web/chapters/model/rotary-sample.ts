// A published model of bytes with rotary positions.
import config from '../../models/parallel-contexts/config.json?shipped';
import weights from '../../models/parallel-contexts/seed1.safetensors?shipped';
import tokenizer from '../../models/parallel-contexts/tokenizer.json?shipped';
import type { Checkpoint } from '../shared/checkpoint';
import { loadCheckpoint } from '../shared/shipped-checkpoint';

export const ROTARY_SAMPLE = 'rotary byte model';

/** Throws as `loadCheckpoint`. */
export function loadRotarySample(): Promise<Checkpoint> {
  return loadCheckpoint(ROTARY_SAMPLE, {
    'model.safetensors': weights,
    'config.json': config,
    'tokenizer.json': tokenizer,
  });
}
