import { fieldWithError } from '../../../charts/with-error';
import type { PriorOutput, PriorRow } from './marks';

/** The row of a prior with this many examples. */
export function rowOf({ rows }: PriorOutput, prior: PriorRow['prior'], examples: number): PriorRow {
  const found = rows.find((row) => row.prior === prior && row.examples === examples);
  if (!found) throw new Error(`no row of ${prior} and ${examples}`);
  return found;
}

/** Numbers of examples that the sentences compare. */
export const FEW = 200;
export const SOME = 400;
export const MANY = 1600;

/** What priors do for the accuracy. */
export function claimText(output: PriorOutput): string {
  if (output.rows.some(({ trainings }) => trainings === 0)) return '';
  const gain = (prior: PriorRow['prior'], examples: number) => fieldWithError(rowOf(output, prior, examples), 'gain');
  const none = rowOf(output, 'none', FEW);
  return (
    `With ${FEW} examples the prior on the target adds ${gain('correct', FEW)} to the accuracy of ` +
    `${fieldWithError(none, 'accuracy')}, a uniform prior, without information on the target, ` +
    `${gain('uniform', FEW)}. With ${SOME} examples it adds ${gain('correct', SOME)}, ` +
    `the uniform prior ${gain('uniform', SOME)}. ` +
    `With ${MANY} examples the prior on the target adds ${gain('correct', MANY)}, one on a wrong object ` +
    `${gain('wrong', MANY)}.`
  );
}

/** What accuracy and spectrum have to do with the weight on the target. */
export function groundingText(output: PriorOutput): string {
  if (output.mean_error === null) return '';
  const correlation = (what: 'mean' | 'variance' | 'accuracy') => fieldWithError(output, `${what}_correlation`);
  return (
    `Over all points the weight on the target has the rank correlation ${correlation('mean')} ` +
    `with the mean of the eigenspectrum, ${correlation('variance')} with its variance and ` +
    `${correlation('accuracy')} with the accuracy; it differs from that of W = m I by ` +
    `${fieldWithError(output, 'mean_error')} on average.`
  );
}
