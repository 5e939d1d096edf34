import type { ShippedFile } from '../../../engine/shipped';
import type { State } from '../state';

type Shipped = Omit<ShippedFile, 'name'>;

/** The published models by their paths. */
const files = import.meta.glob<Shipped>('../../../models/attention-entries/*.safetensors', {
  query: '?shipped',
  import: 'default',
  eager: true,
});

/** Those of an objective, with or without skip connections around attention, by their names. */
export function entryModels({ objective, attention_skip }: Pick<State, 'objective' | 'attention_skip'>) {
  const names = Object.entries(files).map(([path, file]) => [path.slice(path.lastIndexOf('/') + 1), file] as const);
  return Object.fromEntries(names.filter(([name]) => name.startsWith(`${objective}-${attention_skip}-skip-`)));
}
