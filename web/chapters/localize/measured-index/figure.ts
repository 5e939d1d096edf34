import { askTheory } from '../../../heads/predictions';
import type { Scatter } from '../head-scatter';

/** The localization index of the measured attention of trained heads, against that of the theory. */
export const measuredIndex: Scatter = {
  id: 'measured-index',
  inputs: ['sigma', 'sample', 'length', 'tokens', 'correlation', 'seed', 'queries', 'query'],
  x: { axis: 'predicted localization index L', name: 'predicted L' },
  y: { axis: 'measured localization over positions', name: 'measured localization' },
  claim: ['The index', 'measured localization'],
  ask: (context, registry) => askTheory(context, registry, 'localization'),
  placeOf: ({ measured }, _, predicted) => [predicted, measured?.localization],
  cells: ({ x, y }) => ({ predicted_localization: x, localization: y }),
};
