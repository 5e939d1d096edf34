import type { Head } from '../../engine/protocol';
import { Signal } from '../../state/signal';
import { placeOf } from '../../heads/brush';
import type { Checkpoint, OpenedCheckpoint } from '../shared/checkpoint';
import type { Model, HeadRegistry } from '../../heads/registry';
import type { HeadMeasurements } from './measurements';
import type { State } from './state';

/** A checkpoint whose heads have been read. */
export interface Opened extends Checkpoint {
  heads: Head[];
  /** Covariance of the tokens in their traces. */
  frame: State['frame'];
  /** Reads them again with another covariance. Rejects where the checkpoint has none. */
  again(frame: State['frame'], signal: AbortSignal): Promise<Head[]>;
}

/** The checkpoints that were opened, of which one is on the figures; the sample until there is one. */
export class Checkpoints implements OpenedCheckpoint {
  private opened: Opened[] = [];
  private place = 0;
  /** Another checkpoint is shown (true), or the same with other heads. */
  readonly changed = new Signal<boolean>();

  constructor(
    private registry: HeadRegistry,
    private measurements: Pick<HeadMeasurements, 'clearest'>,
  ) {}

  get list(): readonly Opened[] {
    return this.opened;
  }

  /** The place in the list of the one on the figures. */
  get at(): number {
    return this.place;
  }

  /** The files of the model on the figures; null for the sample, whose weights are not loaded. */
  get files(): Checkpoint | null {
    return this.opened[this.place] ?? null;
  }

  /** The model that this section's figures show. */
  get model(): Model {
    return this.registry.latest();
  }

  /** The chosen head of that model, the namesake where another model's is chosen; else the one worth seeing. */
  head(chosen: State['head']): Pick<Head, 'stack' | 'layer' | 'head'> {
    const [, wanted] = chosen.split(':');
    const { heads } = this.model;
    const at = (place: string) => heads.find((it) => placeOf(it) === place);
    return at(wanted) ?? at(this.measurements.clearest) ?? heads[0] ?? { stack: '', layer: 0, head: 0 };
  }

  /** Puts new checkpoints in the place of those before, and shows the last. */
  open(opened: Opened[]): void {
    this.opened = opened;
    this.show(opened.length - 1);
  }

  /** Puts in the same checkpoints with heads that were read in another way. */
  renew(opened: Opened[]): void {
    this.opened = opened;
    this.announce(false);
  }

  show(place: number): void {
    this.place = place;
    this.announce(true);
  }

  private announce(fresh: boolean): void {
    const { name, heads, frame } = this.opened[this.place];
    this.registry.add('file', name, heads, frame);
    this.changed.send(fresh);
  }
}
