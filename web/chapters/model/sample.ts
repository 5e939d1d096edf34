// What the sample was measured to do when the page was built, shown before its weights are loaded.
import type { Attended, Predicted, TokensSource } from '../../engine/protocol';
import { loadJson, type ShippedFile } from '../../engine/shipped';
import operations from '../../generated/operations.json';
import predictions from '../../generated/sample-predictions.json?shipped';
import type texts from '../../generated/sample-texts.json';
import textFile from '../../generated/sample-texts.json?shipped';

const PREDICTIONS: ShippedFile = { ...predictions, name: 'file of the sample’s predictions' };
const TEXTS: ShippedFile = { ...textFile, name: 'file of the sample’s attention' };

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

type PrintedText = (typeof texts)[keyof typeof texts];

/** What the sample does with the sentences of the examples. */
export async function loadSampleTexts(): Promise<Map<string, Attended>> {
  const found = await loadJson<Record<string, PrintedText>>(TEXTS);
  const numbers = <Row extends object>(rows: Row[]) => rows.map(present);
  const answers = Object.entries(found).map(([reading, answer]): [string, Attended] => [
    reading,
    {
      ...answer,
      layers: numbers(answer.layers),
      heads: numbers<PrintedText['heads'][number]>(answer.heads),
      passages: answer.passages.map((it) => ({ ...it, ids: Float64Array.from(it.ids) })),
      weights: answer.weights.map((it) => ({ ...it, weights: Float32Array.from(it.weights.flat()) })),
    },
  ]);
  return new Map(answers);
}

/** The fields of a JSON object as the engine gives them: NaN for null. */
function present<Row extends object>(row: Row) {
  const entries = Object.entries(row).map(([name, value]) => [name, value ?? NaN]);
  return Object.fromEntries(entries) as { [K in keyof Row]: NonNullable<Row[K]> };
}
