// Labs that read text with the checkpoint that is open in Your model, else with the sample once it is wanted.
import { pick } from '../../state/control';
import { Signal } from '../../state/signal';
import { child } from '../../ui/dom';
import type { Checkpoint, OpenedCheckpoint } from '../shared/checkpoint';
import { loadSample, weightsBytes, weightsSize } from '../shared/sample-weights';
import { OWN_TEXT, ownText } from '../shared/text-source';
import type { Built, Files } from './files';
import type { Lab } from './lab';
import { LabFigure, type Drawing } from './lab-figure';
import { usesView, type State, type Store } from './state';

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

/**
 * It opens with the build's answer for the sample, and keeps it for other settings until a person asks for the sample's
 * weights or opens a checkpoint.
 */
export class ModelLab<Answer extends object> extends LabFigure<Answer> {
  private button: HTMLElement;
  private note = document.createElement('span');

  constructor(
    lab: Lab<Answer>,
    drawing: Drawing<Answer>,
    store: Store,
    private model: LabModel,
  ) {
    super(lab, drawing, store);
    this.button = child(this.frame.root, '[data-action="load-weights"]');
    this.button.textContent = `Load ${model.sampleName} (${weightsSize})`;
    this.button.addEventListener('click', () => model.want());
    this.button.before(this.note);
    this.follow(usesView.defaults);
    model.changed.subscribe(() => this.follow(this.answered));
  }

  /** Of the settings whose numbers are shown. */
  shownInputs(): Partial<State> {
    return pick(this.answered, this.inputs);
  }

  protected override async builtFor(state: Readonly<State>): Promise<Built<Answer> | undefined> {
    this.follow(state);
    return this.model.isAbsent ? super.builtFor(usesView.defaults) : undefined;
  }

  protected override async files(): Promise<Files> {
    const [{ model, index, config, tokenizer }, { bytes: file }] = await Promise.all([this.model.files(), ownText()]);
    return { model, index, config, tokenizer, file, fit_length: true };
  }

  /** Model and text of the numbers. */
  protected override before(): string {
    const { passages, length } = this.answered;
    return `${this.model.name}, ${passages} passages of ${length} tokens of ${OWN_TEXT}. `;
  }

  /** Offers the sample's weights; where others than the default settings are chosen, the reason is stated. */
  private follow(state: Readonly<State>): void {
    const { isAbsent, sampleName } = this.model;
    this.button.hidden = weightsBytes === 0 || !isAbsent;
    const way = weightsBytes === 0 ? 'open its folder in “Your model”' : 'load them, or open a model in “Your model”';
    this.note.textContent =
      !isAbsent || this.isIn(state, {})
        ? ''
        : `These numbers are of the default settings. Other settings need the weights of ${sampleName}: ${way}.`;
  }
}
