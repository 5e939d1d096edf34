import { short } from '../../charts/format';
import type { Agreement, Predicted, PredictedMeasure, TokensSource } from '../../engine/protocol';
import operations from '../../generated/operations.json';
import levels from '../../generated/predictor-levels.json';

/** A level of the predictors: its name, what it knows beyond the one before it, and what a head is
 * explained by when this level is the first that fits. The last ones, which explain nothing, are not
 * nested. As the command line lists them, with letters for the names of letters; "_F" is a subscript. */
export const LEVELS: readonly { name: string; adds: string; explains: string }[] = levels.map((level) => ({
  ...level,
  adds: level.adds.replaceAll('eta_', 'η_'),
}));

/** The place of a level in the list. */
export const levelCalled = (name: string) => LEVELS.findIndex((it) => it.name === name);

/** A level that adds to the one before it. */
export const isNested = (level: number) => LEVELS[level].explains !== '';

/** What may explain a head, by the engine's numbers. */
export const VERDICTS: readonly string[] = operations.predict.names.verdict;

/** How the page names the sources of statistics. */
export const LAWS: Record<TokensSource, string> = {
  zipf: 'random tokens by Zipf’s law',
  uniform: 'random tokens, equally frequent',
  text: 'other passages of the text',
};

export const sourceNames = Object.keys(LAWS) as TokensSource[];

/** A text is measured, and every level, the ceiling and the null, which is the last, compared with it. */
export const isDone = ({ summary }: Predicted) => summary.at(-1)?.name === 'null';

/** What the base of rotary positions alone predicts, of models with such positions: the decay over distance. */
export const rotaryRow = ({ summary }: Predicted, quantity: PredictedMeasure) =>
  quantity === 'decay' ? summaryRow({ summary }, 'rotary-base') : undefined;

/** A row of the summary beside the levels; none where that was not asked. */
export const summaryRow = ({ summary }: Pick<Predicted, 'summary'>, row: string) =>
  summary.find(({ name }) => name === row);

type Compared = `${PredictedMeasure}_${'rank_correlation' | 'mean_absolute_error'}`;

/** A number of the summary with its 95% bootstrap interval; '–' where it is not defined. */
export function intervalOf(row: Agreement, name: Compared): string {
  if (row[name] === null) return '–';
  return `${short(row[name])} [${short(row[`${name}_low`])}, ${short(row[`${name}_high`])}]`;
}
