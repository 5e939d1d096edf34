import type { Pool } from '../../engine/pool';
import type { Input, Output } from '../../engine/protocol';
import { areEqual } from '../../state/equal';

type Question = Input<'passages'>;

/** The passages for a prediction, which can be drawn while the heads of the checkpoint are still being read. */
export class DrawnPassages {
  private ahead: { question: Question; answer: Promise<Output<'passages'>> } | null = null;

  constructor(private pool: Pool) {}

  /** Draws passages that are soon asked for. */
  prepare(question: Question): void {
    const answer = this.pool.run('passages', question);
    answer.catch(() => {}); // whoever asks hears of it
    this.ahead = { question, answer };
  }

  /** Those that were drawn ahead where they are the same, otherwise as `draw` gives them. */
  take(
    question: Question,
    draw: (question: Question) => Promise<Output<'passages'>>,
  ): Promise<Output<'passages'>> {
    const { ahead } = this;
    this.ahead = null;
    return ahead && areEqual(ahead.question, question) ? ahead.answer : draw(question);
  }
}
