import type { Attended, Input } from '../../engine/protocol';
import type { FigureContext } from './state';

/** Milliseconds until the first layers are shown, and between two such pictures: a quick answer comes at once. */
const BETWEEN = 400;

/**
 * Runs a model on a text, and shows the layers that are done meanwhile: their heads are final. Where a later layer
 * cannot be read or is not finite, those before it are shown, and the promise rejects.
 */
export async function attendByLayers(
  context: FigureContext,
  input: Input<'attend'>,
  show: (found: Attended, progress: number) => void,
): Promise<Attended> {
  let last = performance.now();
  let shown = 0;
  let newest = { part: null as Attended | null, progress: 0 };
  const showNewest = () => {
    const { part, progress } = newest;
    if (!part || part.layers.length === shown) return;
    shown = part.layers.length;
    last = performance.now();
    show(part, progress);
  };
  const take = (part: Attended, progress: number) => {
    newest = { part, progress };
    if (performance.now() - last > BETWEEN) showNewest();
  };
  try {
    return await context.run('attend', input, take);
  } catch (error) {
    if (!context.signal.aborted) showNewest();
    throw error;
  }
}

/** Which layers are done, in a sentence. */
export function layersDoneText({ layers }: Attended): string {
  const last = layers.length - 1;
  return last > 0 ? `Layers 0 to ${last} are computed. ` : 'Layer 0 is computed. ';
}
