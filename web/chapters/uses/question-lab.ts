import type { Input, JobName, Output } from '../../engine/protocol';
import type { Question } from './lab';
import { askedState, LabFigure, type Quick } from './lab-figure';
import type { FigureContext, State } from './state';

/** What a job is asked about beside the settings of its lab: published models or a checkpoint, and a text. */
export type Files = Partial<
  Pick<Input<'hard-retrieval'>, 'runs' | 'text'> &
    Pick<Input<'attention-sinks'>, 'model' | 'index' | 'config' | 'tokenizer' | 'file' | 'fit_length'>
>;

/** A lab with one question. */
export abstract class QuestionLab<N extends JobName> extends LabFigure<Output<N>> {
  protected abstract readonly question: Question<N>;
  protected readonly quick: Quick = {};

  get inputs() {
    return this.question.inputs;
  }

  /** Of a lab on models or on a text. */
  protected files?(state: Readonly<State>): Promise<Files>;

  protected async answer(
    context: FigureContext,
    take: (output: Output<N>, progress: number) => void,
  ): Promise<Output<N>> {
    const { question, quick } = this;
    const settings = question.in(askedState(context, quick));
    const files = await this.files?.(context.state);
    return context.run(question.operation, { ...settings, ...files } as Input<N>, take);
  }
}
