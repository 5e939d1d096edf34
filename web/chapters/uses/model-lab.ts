// Labs that read text with the checkpoint that is open in Your model, else with the sample once it is wanted.
import { Signal } from '../../state/signal';
import { child } from '../../ui/dom';
import type { Checkpoint, OpenedCheckpoint } from '../shared/checkpoint';
import { loadSample, weightsBytes, weightsSize } from '../shared/sample-weights';
import { OWN_TEXT, ownText } from '../shared/text-source';
import type { Files } from './files';
import type { Lab } from './lab';
import { LabFigure, type Drawing } from './lab-figure';
import type { State, Store } from './state';

export class LabModel {
  private wanted = false;
  /** Another checkpoint is to be run. */
  readonly changed = new Signal();

  constructor(
    private opened: OpenedCheckpoint,
    readonly sampleName: string,
  ) {
    opened.changed.subscribe((fresh) => fresh && this.changed.send());
  }

  /** Nothing can be run: what is known of the sample is what the build has computed. */
  get isAbsent(): boolean {
    return !this.opened.files && !this.wanted;
  }

  get name(): string {
    return this.opened.files?.name ?? this.sampleName;
  }

  /** A person wants the sample's weights. */
  want(): void {
    this.wanted = true;
    this.changed.send();
  }

  /** The files of the checkpoint; those of the sample are fetched. Throws as `loadSample`. */
  async files(): Promise<Checkpoint> {
    return this.opened.files ?? loadSample(this.sampleName);
  }
}

/** It opens with the build's answer for the sample, whose weights are fetched when a person asks for other settings. */
export class ModelLab<Answer extends object> extends LabFigure<Answer> {
  constructor(
    lab: Lab<Answer>,
    drawing: Drawing<Answer>,
    store: Store,
    private model: LabModel,
  ) {
    super(lab, drawing, store);
    const button = child<HTMLButtonElement>(this.frame.root, '[data-action="load-weights"]');
    button.textContent = `Load ${model.sampleName} (${weightsSize}) for other settings`;
    button.addEventListener('click', () => model.want());
    const follow = () => (button.hidden = weightsBytes === 0 || !model.isAbsent);
    model.changed.subscribe(follow);
    follow();
  }

  protected override isKnown(state: Readonly<State>): boolean {
    return this.model.isAbsent && super.isKnown(state);
  }

  protected override async files(): Promise<Files> {
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

  /** Model and text of the numbers. */
  protected override before(): string {
    const { passages, length } = this.answered;
    return `${this.model.name}, ${passages} passages of ${length} tokens of ${OWN_TEXT}. `;
  }
}
