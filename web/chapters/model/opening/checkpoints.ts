import type { Head, Input, Output } from '../../../engine/protocol';
import { Signal } from '../../../state/signal';
import { placeOf } from '../../../heads/brush';
import { weightsOf, type Checkpoint, type OpenedCheckpoint } from '../../shared/checkpoint';
import { modelOf, type HeadRegistry, type Model } from '../../../heads/registry';
import type { HeadMeasurements } from '../reading/measurements';
import type { State } from '../state';
import { capitalized, count } from '../../../charts/format';
import { EngineError, type Pool } from '../../../engine/pool';
import type { RunOptions } from '../../../engine/run-options';
import { shardText } from '../files/files';
import { isAsked } from '../table/columns';

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
  /** The heads so far of a checkpoint that is being read, for the table; null while none is. */
  reading: Model | null = null;
  readonly readingChanged = new Signal();

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

  read(model: Pick<Model, 'name' | 'covariance'> | null, heads: Head[] = []): void {
    this.reading = model && modelOf('file', model.name, heads, model.covariance);
    this.readingChanged.send();
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

const KILO = 1e3;
const MEGA = 1e6;

/** Whether a change of these makes a scan of such heads another one. */
export function concerns(names: ReadonlySet<string>, state: State, rotary: boolean): boolean {
  const has = (...list: (keyof State)[]) => list.some((name) => names.has(name));
  // Length and tokens are those of the localization that the isotropic theory predicts.
  if (has('fold_gains', 'model_type', 'frame', 'length', 'tokens', 'correlation')) return true;
  const averaged = state.offset_kind === 'average';
  return rotary && (has('offset_kind') || (!averaged && has('offset')));
}

/** Which W of a head the state means. */
export function queryKeyOf({ fold_gains, offset, offset_kind }: Readonly<State>) {
  return { fold_gains, offset, average: offset_kind === 'average' };
}

/** What the state asks of a scan. */
function askedOf(state: Readonly<State>) {
  const { length, tokens, correlation, frame } = state;
  const directionality = isAsked('directionality', state) ? ('yes' as const) : ('no' as const);
  return { ...queryKeyOf(state), length, tokens, correlation, frame, directionality, eigenvalues: true };
}

/** How the heads of a checkpoint are found, where its files do not determine it. */
export type Finding = Pick<
  Input<'heads'>,
  'heads' | 'key_heads' | 'stack' | 'map_query' | 'map_key' | 'map_gain' | 'map_layout'
>;

/** Reads the heads of one checkpoint. */
export function scan(
  pool: Pool,
  checkpoint: Checkpoint,
  state: Readonly<State>,
  finding: Finding,
  options: RunOptions<'heads'>,
): Promise<Output<'heads'>> {
  const { model_type } = state;
  const { folder = '', trainer_state = null } = checkpoint;
  const input = { ...weightsOf(checkpoint), folder, trainer_state, ...finding, ...askedOf(state), model_type };
  return pool.run('heads', input, options);
}

/** The mapping that a person has described; nothing for none. */
export function mappingOf(state: Readonly<State>) {
  const { map_query, map_key, map_gain, map_layout } = state;
  return map_query === '' ? null : { map_query, map_key, map_gain, map_layout };
}

/** What there is to say of a checkpoint's tensors when what is wrong with it may be how they are found; else null. */
export async function tensorsOf(
  pool: Pool,
  checkpoint: Checkpoint,
  error: unknown,
  signal: AbortSignal,
): Promise<Output<'tensors'> | null> {
  if (!(error instanceof EngineError) || error.name !== 'FormatError') return null;
  try {
    return await pool.run('tensors', weightsOf(checkpoint), { signal });
  } catch {
    return null; // the first error says more
  }
}

/** Whether an error is of a file of weights or of its tensors, whose names may be given: not of a key of config.json. */
export function isOfNames({ field }: EngineError, names: readonly string[]): boolean {
  return field === '' || names.includes(field) || /\.(safetensors|gguf|bin|pt|pth|index\.json)$/.test(field);
}

/** The names of tensors with "{n}" for the number of the layer, each once. */
export function patternsOf(names: readonly string[]): string[] {
  const pattern = (name: string) => name.replace(/(?<=^|\.)\d+(?=\.)/, '{n}');
  return [...new Set(names.map(pattern))].filter((name) => name.includes('{n}'));
}

/** What there is to say of a scan. */
export function reportOf(
  checkpoint: Checkpoint,
  { heads, bytes_read, excluded, notes }: Output<'heads'>,
  state: Readonly<State>,
  seconds: number,
): string {
  const { name } = checkpoint;
  const shard = shardText(checkpoint);
  const noted = notes.map((note) => ` ${capitalized(note).replace(/\.?$/, '.')}`).join('');
  const left = excluded.length > 0 ? ` Left out: ${excluded.join(', ')}.` : '';
  return (
    `${count(heads.length)} heads of ${name}: read ${readText(bytes_read, bytesOf(checkpoint))} ` +
    `in ${seconds.toFixed(1)} s. ${framingOf(heads, state)}${left}${noted}${shard && ` ${shard}`}`
  );
}

/** Which W the numbers are of. */
function framingOf(heads: Head[], state: Readonly<State>): string {
  const gains = [...new Set(heads.flatMap(({ folded }) => (folded ? folded.split(' ') : [])))];
  const parts = [gains.length > 0 ? `Norm gains included: ${gains.join(', ')}` : 'Without norm gains'];
  if (heads.some(({ rotary }) => rotary)) {
    const { offset_kind, offset, length } = state;
    parts.push(
      offset_kind === 'average'
        ? `rotary heads averaged over the offsets 0 to ${length - 1}`
        : `rotary heads at offset ${offset}`,
    );
  }
  if (state.map_key_heads !== '') parts.push(`key heads as given, ${state.map_key_heads}`);
  if (state.frame === 'embeddings') parts.push('with the covariance of the token embeddings');
  return `${parts.join('; ')}.`;
}

/** Bytes in kilobytes or megabytes: "91.6 MB", "213 kB". */
export function sizeText(bytes: number): string {
  return bytes < MEGA ? `${Math.ceil(bytes / KILO)} kB` : `${(bytes / MEGA).toFixed(1)} MB`;
}

export function bytesOf({ model }: Checkpoint): number {
  return model.reduce((sum, { size }) => sum + size, 0);
}

/**
 * How much of a file was read, in kilobytes or megabytes: "0.2 of 91.6 MB", "41 of 213 kB". Ranges of a small
 * file overlap: what was read of it is at most the whole.
 */
export function readText(read: number, size: number): string {
  const bytes = Math.min(read, size);
  const [whole, unit] = sizeText(size).split(' ');
  return `${unit === 'kB' ? Math.ceil(bytes / KILO) : (bytes / MEGA).toFixed(1)} of ${whole} ${unit}`;
}
