import { short } from '../../../charts/format';
import type { Agreement, Predicted, PredictedMeasure, TokensSource } from '../../../engine/protocol';
import operations from '../../../generated/operations.json';
import levels from '../../../generated/predictor-levels.json';

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

/** A head that a level predicts badly. */
interface Miss {
  layer: number;
  head: number;
  predicted: number;
  measured: number;
  /** Which ingredient is missing, in a sentence; "_F" is a subscript. */
  reason: string;
}

const SEQUENCES = levelCalled('sequences');

/**
 * The `most` heads with the largest error of `level`, the largest first; none before a text is measured.
 * The reason is the first of these that halves the error: the source of the statistics is to blame when
 * the head itself, run on that source's sequences, is off by more than half as much; otherwise a nested
 * level of at most half the error; otherwise what no level knows, which tokens stand in one sequence.
 */
export function missesOf<M extends PredictedMeasure>(
  found: Pick<Predicted, 'layer' | 'head' | M | `measured_${M}`>,
  quantity: M,
  level: number,
  most: number,
): Miss[] {
  const predictions = found[quantity];
  const heads = Array.from(found.layer, (layer, i) => {
    const measured = found[`measured_${quantity}`][i];
    const own = predictions.subarray(LEVELS.length * i, LEVELS.length * (i + 1));
    const errors = Array.from(own, (value) => Math.abs(value - measured));
    return { layer, head: found.head[i], measured, predicted: own[level], errors };
  });
  return heads
    .filter(({ errors }) => !Number.isNaN(errors[level]))
    .sort((a, b) => b.errors[level] - a.errors[level])
    .slice(0, most)
    .map(({ errors, ...head }) => ({ ...head, reason: reasonOf(errors, level) }));
}

function reasonOf(errors: number[], level: number): string {
  const half = errors[level] / 2;
  const run = errors[SEQUENCES];
  if (level !== SEQUENCES && !(run > half)) {
    const nested = errors.map((error, i) => ({ error, i })).filter(({ i }) => isNested(i));
    const best = nested.find(({ error }) => error <= half);
    return best
      ? `Level ${best.i}, ${LEVELS[best.i].name}, has an error of ${short(best.error)}: it adds ${LEVELS[best.i].adds}.`
      : 'Run on the sequences that the statistics come from, the head has an error of only ' +
          `${short(run)}: it depends on which tokens share a sequence.`;
  }
  return (
    'Run on the sequences that the statistics come from, the head still has an error of ' +
    `${short(run)}: those sequences differ from the text.`
  );
}
