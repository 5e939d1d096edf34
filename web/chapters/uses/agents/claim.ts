import { short } from '../../../charts/format';
import { fieldWithError } from '../../../charts/with-error';
import type { AgentOutput, AgentRow } from './marks';

/** The row of a policy with this many distractors at this multiple of their scale in training. */
export function agentRow({ rows }: AgentOutput, policy: AgentRow['policy'], distractors: number, scale = 1): AgentRow {
  const found = rows.find((row) => row.policy === policy && row.distractors === distractors && row.scale === scale);
  if (!found) throw new Error(`no row of ${policy}, ${distractors} and ${scale}`);
  return found;
}

/** The number of distractors that the sentences compare, and their scale where they are loud. */
export const MOST_DISTRACTORS = 32;
export const LOUD = 3;

/** What attention does for the accuracy. */
export function claimText(output: AgentOutput): string {
  if (output.rows.some(({ trainings }) => trainings === 0)) return '';
  const gain = (policy: AgentRow['policy'], scale = 1) =>
    fieldWithError(agentRow(output, policy, MOST_DISTRACTORS, scale), 'gain');
  return (
    `With ${MOST_DISTRACTORS} distractors self-attention adds ${gain('attention')} ` +
    `to the accuracy of the perceptron, ${fieldWithError(agentRow(output, 'plain', MOST_DISTRACTORS), 'accuracy')}; ` +
    `uniform attention weights add ${gain('uniform')}, an L1 penalty ${gain('sparse')}. ` +
    `At ${LOUD} times the scale in training self-attention adds ${gain('attention', LOUD)}, the L1 penalty ` +
    `${gain('sparse', LOUD)}.`
  );
}

/** What attention and eigenvectors have to do with the relevant features. */
export function directionText(output: AgentOutput): string {
  const own = output.eigenvectors.find(({ distractors }) => distractors === MOST_DISTRACTORS);
  if (!own || own.share === null) return '';
  const share = (scale: number) =>
    fieldWithError(agentRow(output, 'attention', MOST_DISTRACTORS, scale), 'relevant_share');
  return (
    `With ${MOST_DISTRACTORS} distractors the four leading eigenvectors of W have ` +
    `${fieldWithError(own, 'share')} of their squared entries on the four relevant features ` +
    `(random directions ${short(own.random)}), the attention weights ${share(1)}, at ${LOUD} times the scale ` +
    `${share(LOUD)}.`
  );
}
