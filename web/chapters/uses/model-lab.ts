import type { JobName, Output } from '../../engine/protocol';
import { child } from '../../ui/dom';
import type { FigureOf } from '../../ui/registry';
import { weightsBytes, weightsSize } from '../shared/sample-weights';
import { OWN_TEXT, ownText } from '../shared/text-source';
import type { Panel } from './lab-figure';
import type { LabModel } from './lab-model';
import { QuestionLab } from './question-lab';
import { usesView, type State, type Store } from './state';

/** A lab on a checkpoint that reads text. It opens with the build's answer for the sample, whose weights wait. */
export abstract class ModelLab<N extends JobName> extends QuestionLab<N> {
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

  /** What the state shows of an answer. */
  protected abstract panelsOf(output: Output<N>, state: Readonly<State>): readonly [Panel, Panel];

  protected panels(output: Output<N>): readonly [Panel, Panel] {
    return this.panelsOf(output, this.store.state);
  }

  override card(first: Output<N>): SVGSVGElement {
    return super.card(first, this.panelsOf(first, usesView.defaults)[0]);
  }

  protected override isKnown(state: Readonly<State>): boolean {
    return this.model.isAbsent && super.isKnown(state);
  }

  protected override async files() {
    if (this.model.isAbsent) {
      throw new Error(
        weightsBytes === 0
          ? 'Other settings need the weights of a model: open its folder in “Your model”.'
          : `Other settings need the weights of ${this.model.sampleName}: load them, or open a model in “Your model”.`,
      );
    }
    const [{ model, index, config, tokenizer }, { bytes: file }] = await Promise.all([this.model.files(), ownText()]);
    return { model, index, config, tokenizer, file, fit_length: true };
  }

  /** Of which model, and of how much text the numbers are. */
  protected sampleText(): string {
    const { passages, length } = this.answered;
    return `${this.model.name}, ${passages} passages of ${length} tokens of ${OWN_TEXT}.`;
  }
}
