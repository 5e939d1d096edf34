import type { Head, Measure } from '../engine/protocol';
import { Signal } from '../state/signal';
import type { Covariance, Spread } from '../state/heads';
import { placeOf } from './brush';
import type { HeadTraces, HeadMeasures } from './traces';

/** A head as it comes to the page, with what is known of it beside its own scan. */
export interface KnownHead extends Head {
  /** Traces for covariances other than the one with which it was scanned. */
  traces?: Partial<Record<Covariance, HeadTraces>>;
  /** What it does on text. */
  measured?: Partial<HeadMeasures>;
}

/** A head on the page. `id` is model:place, as in the link. */
export interface PlacedHead extends KnownHead {
  id: string;
  /** Of its layer, among the model's. */
  row: number;
  model: Model;
}

/** A checkpoint whose heads are on the page. */
export interface Model {
  key: 'sample' | 'file';
  name: string;
  /** Covariance of the tokens with which the heads were scanned. */
  covariance: Covariance;
  layers: number;
  /** Why its heads have no traces for a covariance, in words. */
  refused: Partial<Record<Covariance, string>>;
  /** The names of the stacks, one after another; '' where there is one. */
  stacks: string[];
  /** What the layers of all stacks are called, in the order of the file. */
  rows: string[];
  heads: PlacedHead[];
}

/** What the theory predicts of every head at the page's length and tokens. */
interface Predictions {
  measure: Measure;
  /** For which covariance of the tokens; heads without its traces have no value. */
  covariance: Covariance;
  value: Map<string, number>;
}

export function modelOf(key: Model['key'], name: string, heads: KnownHead[], covariance: Covariance): Model {
  const rows = [...new Set(heads.map(layerOf))];
  const stacks = [...new Set(heads.map(({ stack }) => stack))];
  const model: Model = { key, name, covariance, layers: 0, refused: {}, stacks, rows, heads: [] };
  model.heads = heads.map((head) => ({
    ...head,
    model,
    id: `${key}:${placeOf(head)}`,
    row: rows.indexOf(layerOf(head)),
  }));
  model.layers = 1 + Math.max(-1, ...heads.map((head) => head.layer));
  return model;
}

/** The models on the page, what is predicted of their heads, and the head under the hand. */
export class HeadRegistry {
  private models: Model[] = [];
  private pointed = '';
  /** The heads or what is predicted of them changed. */
  readonly changed = new Signal();
  /** The heads of a model were added. */
  readonly added = new Signal();
  /** Another head is pointed at. */
  readonly hovering = new Signal();
  predictions: Predictions = { measure: 'localization', covariance: 'identity', value: new Map() };

  /** Adds a model, in place of one of the same key. */
  add(key: Model['key'], name: string, heads: KnownHead[], covariance: Covariance = 'identity'): void {
    this.models = [...this.models.filter((it) => it.key !== key), modelOf(key, name, heads, covariance)];
    this.changed.send();
    this.added.send();
  }

  /** The models to be drawn: the sample only where it is not hidden. */
  shown(sample: 'shown' | 'hidden'): Model[] {
    return this.models.filter((model) => model.key !== 'sample' || sample === 'shown');
  }

  heads(sample: 'shown' | 'hidden'): PlacedHead[] {
    return this.shown(sample).flatMap((model) => model.heads);
  }

  /** The file's model, or the sample while there is none. */
  latest(): Model {
    return this.models[this.models.length - 1];
  }

  find(id: string): PlacedHead | undefined {
    return this.models.flatMap((model) => model.heads).find((head) => head.id === id);
  }

  /** Takes the traces of the opened model's heads for another covariance of the tokens. */
  trace(covariance: Covariance, traces: HeadTraces[]): void {
    const { file } = this;
    if (file?.heads.length !== traces.length) return;
    file.refused = {};
    file.heads.forEach((head, i) => {
      head.traces = { ...head.traces, [covariance]: traces[i] };
    });
    this.changed.send();
    this.added.send();
  }

  /** Takes why the opened model's heads have no traces for a covariance, in words. */
  refuse(covariance: Covariance, why: string): void {
    if (!this.file) return;
    this.file.refused = { [covariance]: why };
    this.changed.send();
  }

  /** Drops the opened model's traces for a covariance. */
  forget(covariance: Covariance): void {
    for (const { traces } of this.file?.heads ?? []) delete traces?.[covariance];
    this.changed.send();
  }

  private get file(): Model | undefined {
    return this.models.find(({ key }) => key === 'file');
  }

  /** Takes what the heads of the opened model were measured to do on text. */
  measure(measured: (head: PlacedHead) => Partial<HeadMeasures>): void {
    const { file } = this;
    for (const head of file?.heads ?? []) head.measured = measured(head);
    if (file) this.changed.send();
  }

  predict(predictions: Predictions): void {
    this.predictions = predictions;
    this.changed.send();
  }

  /** The head that a hand or the focus points at, or ''. */
  get hovered(): string {
    return this.pointed;
  }

  hover(id: string): void {
    if (id === this.pointed) return;
    this.pointed = id;
    this.hovering.send();
  }
}

/** The layer of a head, with its stack where there are several. */
function layerOf({ stack, layer }: Head): string {
  return stack ? `${stack} ${layer}` : String(layer);
}

/** Where a head is, in words; layers and heads are counted from 0, as in checkpoints. */
export function placeName({ stack, layer, head }: Pick<Head, 'stack' | 'layer' | 'head'>): string {
  return `${stack ? `${stack} ` : ''}layer ${layer}, head ${head}`;
}

/** The name of a head. */
export function nameOf(head: PlacedHead): string {
  return `${head.model.name}, ${placeName(head)}`;
}

/** What each of the three variances is called. */
export const spreadNames: Record<Spread, string> = {
  variance: 'trace variance',
  variance_modulus: 'modulus variance',
  variance_frobenius: 'Frobenius variance',
};
