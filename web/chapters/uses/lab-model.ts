import { Signal } from '../../state/signal';
import type { Checkpoint, OpenedCheckpoint } from '../shared/checkpoint';
import { loadSample } from '../shared/sample-weights';

/** The checkpoint that labs run on text: the one that is open in Your model, else the sample once it is wanted. */
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
