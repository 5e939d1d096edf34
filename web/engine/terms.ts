// What jobs are about: the things that go in and come out. The names are those of the command line's
// JSON, so that a number seen on the page can be found again in a terminal.

import type { Operations } from '../generated/operations';

/** The input of a job, with every field. */
type Whole<J extends keyof Operations> = {
  [K in keyof Operations[J]['input']]-?: NonNullable<Operations[J]['input'][K]>;
};

/** One experiment: an ensemble of W_QK at one mean and variance, and a token process. */
export type Setting =
  Whole<'propagation'> extends infer All ? Omit<All, 'xi' | 'eta_s' | 'eta_f' | 'query' | 'all_queries'> : never;
export type TokenProcess = Setting['tokens'];
export type Ensemble = Setting['ensemble'];

/** Theory of one setting: arrays over the T positions. */
export type Theory = Operations['propagation']['output'];
export type Regime = Theory['regime'];
export type Signal = Theory['signal'];

/** Monte Carlo of one setting so far. `*_error` are standard errors. */
export type Simulated = Operations['simulate']['output'];

/** What the lead figure can plot. */
export type Measure = Whole<'lines'>['measure'];
export type SweepPoint = Operations['sweep']['output']['rows'][number];

/** One head of a checkpoint, as `eigenscope heads --eigenvalues` prints it. */
export type Head = Omit<
  Operations['heads']['output']['heads'][number],
  'model' | 'offset' | 'singular_values' | SoftmaxMeasure | `${SoftmaxMeasure}_error`
>;
type SoftmaxMeasure = Exclude<Measure, 'localization' | 'rho_mean'>;

/** A stack of attention blocks. */
export type Stack = Whole<'token-plane'> & Pick<Whole<'collapse'>, 'stacks'>;

/** Stacks at several points of the plane of eigenspectra, all with the same draws. */
export type Collapsed = Operations['collapse']['output'];
/** What is measured after each layer. */
export type LayerMeasure = { [K in keyof Collapsed]: K extends `${infer M}_error` ? M : never }[keyof Collapsed];

/** A training run: its settings, and how its text is cut into tokens. */
export type Training = Omit<Whole<'train'>, 'text' | 'checkpoint' | 'more'>;
/** A piece of a training run, from its checkpoint on. */
export type TrainingPiece = Training & { text: Uint8Array; checkpoint: Uint8Array | null; more: number };
export type TrainSettings = Operations['train']['output']['settings'];
export type Regularizer = Training['regularizer'];
export type Intervention = Whole<'evaluate'>['intervention'];

/** Rows of a run's log. Row-major, one row a row of the log; NaN where there is nothing. */
export type RunRows = Operations['train']['output']['rows'];
/** Of the whole run, of a head. */
export type RunMeasure = keyof RunRows['run'];
export type RunHeadMeasure = keyof RunRows['heads'];

/** What a host says of a file's state, as far as it says it to other pages; null where it does not. */
interface Version {
  etag: string | null;
  modified: string | null;
}

/** A file on another host, which is read by ranges. */
export interface Remote {
  url: string;
  name: string;
  size: number;
  /** As of the first answer; the file is refused when a later one has another. */
  version: Version;
}

/** The files of a checkpoint; what reads text needs config and tokenizer too. */
export interface CheckpointFiles {
  /** The .safetensors files. */
  model: (Blob | Remote)[];
  /** Says which of them count, where they are shards; then each must be there. */
  index: Blob | null;
  config: Blob | null;
  tokenizer: Blob | null;
}

/** What every head does on a text. */
export type Attended = Operations['attend']['output'];

/** Predicted against measured attention. Heads come layer by layer, how well they agree at the end. */
export type Predicted = Operations['predict']['output'];
/** What is both predicted and measured of every head. */
export type PredictedMeasure = {
  [K in keyof Predicted]: K extends `measured_${infer M}` ? Extract<M, keyof Predicted> : never;
}[keyof Predicted];
/** How well a level agrees with what was measured; NaN pairs are left out. */
export type Agreement = Predicted['summary'][number];

/** Where the statistics of the tokens come from: a law of independent tokens, or a text. A model's own text
 *  needs a language model: on the command line alone. */
export type TokensSource = Exclude<Whole<'predict'>['tokens_law'], 'sampled'> | 'text';
