import seed1 from '../../../models/parallel-contexts/seed1.safetensors?shipped';
import seed2 from '../../../models/parallel-contexts/seed2.safetensors?shipped';
import seed3 from '../../../models/parallel-contexts/seed3.safetensors?shipped';
import seed4 from '../../../models/parallel-contexts/seed4.safetensors?shipped';

/** The published models with rotary positions. */
export const CONTEXT_MODELS = { seed1, seed2, seed3, seed4 };
