import { child } from '../../ui/dom';
import type { FigureOf } from '../../ui/registry';
import type { Checkpoint } from '../shared/checkpoint';
import { weightsBytes, weightsSize } from '../shared/sample-weights';
import { OWN_TEXT, ownText } from '../shared/text-source';
import type { LabModel } from './lab-model';
import { LabFigure, type Panel } from './lab-figure';
import { usesView, type FigureContext, type State, type Store } from './state';

/** What a job on a checkpoint and a text is asked beside the settings of its lab. */
export type ModelInput = Pick<Checkpoint, 'model' | 'index' | 'config' | 'tokenizer'> & {
  file: Uint8Array;
  fit_length: true;
};

/** A lab on a checkpoint that reads text. It opens with the build's answer for the sample, whose weights wait. */
export abstract class ModelLab<Output> extends LabFigure<Output> {
  private button: HTMLButtonElement;

  constructor(
    id: FigureOf<'uses'>,
    protected store: Store,
    private model: LabModel,
  ) {
    super(id);
    this.button = child(this.frame.root, '[data-action="load-weights"]');
    this.button.textContent = `Load ${model.sampleName} (${weightsSize}) for other settings`;
    this.button.addEventListener('click', () => model.want());
    const follow = () => (this.button.hidden = weightsBytes === 0 || !model.isAbsent);
    model.changed.subscribe(follow);
    follow();
  }

  protected abstract ask(
    context: FigureContext,
    input: ModelInput,
    take: (output: Output, progress: number) => void,
  ): Promise<Output>;

  /** What the state shows of an answer. */
  protected abstract panelsOf(output: Output, state: Readonly<State>): readonly [Panel, Panel];

  protected panels(output: Output): readonly [Panel, Panel] {
    return this.panelsOf(output, this.store.state);
  }

  override card(first: Output): SVGSVGElement {
    return super.card(first, this.panelsOf(first, usesView.defaults)[0]);
  }

  protected override isKnown(state: Readonly<State>): boolean {
    return this.model.isAbsent && super.isKnown(state);
  }

  protected async answer(context: FigureContext, take: (output: Output, progress: number) => void): Promise<Output> {
    if (this.model.isAbsent) {
      throw new Error(
        weightsBytes === 0
          ? 'Other settings need the weights of a model: open its folder in “Your model”.'
          : `Other settings need the weights of ${this.model.sampleName}: load them, or open a model in “Your model”.`,
      );
    }
    const [{ model, index, config, tokenizer }, { bytes: file }] = await Promise.all([this.model.files(), ownText()]);
    return this.ask(context, { model, index, config, tokenizer, file, fit_length: true }, take);
  }

  /** Of which model, and of how much text the numbers are. */
  protected sampleText(): string {
    const { passages, length } = this.store.state;
    return `${this.model.name}, ${passages} passages of ${length} tokens of ${OWN_TEXT}.`;
  }
}
