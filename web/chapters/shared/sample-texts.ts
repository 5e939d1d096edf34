// What the sample was measured to do with the sentences of the examples, when the page was built.
import type { Attended } from '../../engine/protocol';
import { loadJson, type ShippedFile } from '../../engine/shipped';
import type texts from '../../generated/sample-texts.json';
import textFile from '../../generated/sample-texts.json?shipped';

export const TEXTS: ShippedFile = { ...textFile, name: 'file of the sample’s attention' };

type PrintedText = (typeof texts)[keyof typeof texts];

/** What the sample does with each sentence. Throws as `loadJson`. */
export async function loadSampleTexts(): Promise<Map<string, Attended>> {
  const found = await loadJson<Record<string, PrintedText>>(TEXTS);
  const numbers = <Row extends object>(rows: Row[]) => rows.map(present);
  const answers = Object.entries(found).map(([reading, answer]): [string, Attended] => [
    reading,
    {
      ...answer,
      outcome: answer.outcome as Attended['outcome'],
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
