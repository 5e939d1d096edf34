// Models that come with the page: what the sample was measured to do when the page was built, and two others.
import type { Predicted, TokensSource } from '../../../engine/protocol';
import { loadJson, type ShippedFile } from '../../../engine/shipped';
import operations from '../../../generated/operations.json';
import predictions from '../../../generated/sample-predictions.json?shipped';
import passagesFile from '../../../generated/sample-passages.json?shipped';
import useLiteConfig from '../../../generated/use-lite/config.json?shipped-beside';
import useLiteWeights from '../../../generated/use-lite/model.safetensors?shipped-beside';
import useLiteTokenizer from '../../../generated/use-lite/tokenizer.json?shipped-beside';
import type { Corpus } from './measurements';
import { TEXTS } from '../../shared/sample-texts';
import { loadCheckpoint } from '../../shared/checkpoint';
import rotaryConfig from '../../../models/parallel-contexts/config.json?shipped';
import rotaryWeights from '../../../models/parallel-contexts/seed1.safetensors?shipped';
import rotaryTokenizer from '../../../models/parallel-contexts/tokenizer.json?shipped';

const PREDICTIONS: ShippedFile = { ...predictions, name: 'file of the sample’s predictions' };

const PASSAGES: ShippedFile = { ...passagesFile, name: 'file of the sample’s passages' };

export const sampleFiles: readonly ShippedFile[] = [TEXTS, PREDICTIONS];

type Printed = Record<keyof Predicted, unknown>;

/** A prediction as the command line prints it, with arrays as the engine gives them: NaN for null. */
function engineArrays(printed: Printed): Predicted {
  const names: Record<string, readonly string[]> = operations.predict.names;
  const entries = Object.entries(printed).map(([field, value]) => {
    if (!(field in names)) return [field, engineValue(value)];
    const numbers = (value as string[]).map((name) => names[field].indexOf(name));
    return [field, Uint8Array.from(numbers)];
  });
  return Object.fromEntries(entries) as Predicted;
}

/** A number, an array of numbers or a list of objects with such values. */
function engineValue(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const isList = value.length > 0 && !Array.isArray(value[0]) && value[0] instanceof Object;
  if (!isList) return Float64Array.from(value.flat() as (number | null)[], (it) => it ?? NaN);
  return (value as object[]).map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, it]) => [name, engineValue(it)])),
  );
}

/** Predicted against measured, with the numbers of the page's defaults, for each source of statistics. */
export async function loadSamplePredictions(): Promise<Map<TokensSource, Predicted>> {
  const found = await loadJson<Record<TokensSource, Printed>>(PREDICTIONS);
  const sources = Object.entries(found) as [TokensSource, Printed][];
  return new Map(sources.map(([source, printed]) => [source, engineArrays(printed)]));
}

/** The passages of the page's own text on which each head of the sample has its largest weights. Throws as `loadJson`. */
export const loadSamplePassages = () => loadJson<Corpus>(PASSAGES);

const name = 'Universal Sentence Encoder-lite';

/** A second trained model, which the build converts. The page of a single file does not have it. */
export const USE_LITE = {
  name,
  /** Of the weights; 0 where the page does not have them. */
  bytes: useLiteWeights?.bytes ?? 0,
  /** Throws as `loadCheckpoint`. */
  load: () =>
    loadCheckpoint(name, {
      'model.safetensors': useLiteWeights,
      'config.json': useLiteConfig,
      'tokenizer.json': useLiteTokenizer,
    }),
};

export const ROTARY_SAMPLE = 'rotary byte model';

/** A published model of bytes with rotary positions. Throws as `loadCheckpoint`. */
export const loadRotarySample = () =>
  loadCheckpoint(ROTARY_SAMPLE, {
    'model.safetensors': rotaryWeights,
    'config.json': rotaryConfig,
    'tokenizer.json': rotaryTokenizer,
  });
