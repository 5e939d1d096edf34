// What the figure of surgery on heads draws and says.
import { fixed } from '../../../charts/format';

/** The surgeries that are drawn, with their controls in the bare metric and their nulls. */
export const SURGERIES = [
  { surgery: 'mean', name: 'mean added', control: 'bare-mean', random: 'random-mean' },
  { surgery: 'shrink', name: 'variance shrunk', control: 'bare-shrink', random: 'random-shrink' },
] as const;

export const MEASURES = [
  { measure: 'entropy', name: 'entropy' },
  { measure: 'sink', name: 'sink' },
  { measure: 'localization', name: 'index L' },
] as const;

/** In their order: the models in which the hypothesis fails first. */
export const MODELS = ['byte models', 'MiniLM'];

/** What a surgery changes in a model's heads, in their order and in this unit; of the null the mean over its draws. */
interface Changes {
  surgery: (typeof SURGERIES)[number]['surgery'];
  dose: number;
  measure: (typeof MEASURES)[number]['measure'];
  unit: number;
  predicted: number[];
  measured: number[];
  null_predicted: number[];
  null_measured: number[];
}

/** Slope through the origin of measured on predicted change of the entropy, with its 95% interval. */
interface Slope {
  surgery: string;
  value: number;
  low: number;
  high: number;
}

export interface ModelChanges {
  name: string;
  /** Of its heads: "layer.head". */
  places: string[];
  changes: Changes[];
  slopes: Slope[];
}

/** A head after a surgery, or after random ones of that size. */
export interface HeadChange {
  place: string;
  surgery: (typeof SURGERIES)[number];
  isRandom: boolean;
  predicted: number;
  measured: number;
}

/** The heads of a model after both surgeries at a dose, random ones first. */
export function changesIn({ places, changes }: ModelChanges, measure: string, dose: number): HeadChange[] {
  const rows = changes.filter((row) => row.measure === measure && row.dose === dose);
  const of = (isRandom: boolean) =>
    rows.flatMap((row) =>
      places.map((place, i) => ({
        ...{ place, isRandom, surgery: SURGERIES.find(({ surgery }) => surgery === row.surgery)! },
        predicted: row.unit * (isRandom ? row.null_predicted : row.predicted)[i],
        measured: row.unit * (isRandom ? row.null_measured : row.measured)[i],
      })),
    );
  return [...of(true), ...of(false)];
}

/** The slopes of the entropy, of their controls and nulls, in a sentence for each model. */
export function slopesText(models: readonly ModelChanges[]): string {
  const texts = models.map(({ name, slopes }) => {
    const text = (own: string) => {
      const { value, low, high } = slopes.find(({ surgery }) => surgery === own)!;
      return `${fixed(value, 2)} (${fixed(low, 2)} to ${fixed(high, 2)})`;
    };
    const own = SURGERIES.map(
      (it) => `${it.name} ${text(it.surgery)}, control ${text(it.control)}, null ${text(it.random)}`,
    );
    return `${name}: ${own.join('; ')}.`;
  });
  return `Slopes of measured on predicted change of the entropy, 95% intervals: ${texts.join(' ')}`;
}
