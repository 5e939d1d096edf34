import { count } from '../charts/format';
import type { Pool, RunOptions } from '../engine/pool';
import type { Head, Input, Output } from '../engine/protocol';
import type { State, StateName } from '../state/table';
import type { Given } from './given';

const MEGA = 1e6;

/** Whether a change of these makes a scan of such heads another one. */
export function concerns(names: ReadonlySet<StateName>, state: State, rotary: boolean): boolean {
  const has = (...list: StateName[]) => list.some((name) => names.has(name));
  if (has('fold_gains', 'frame')) return true;
  const averaged = state.offset_kind === 'average';
  return rotary && (has('offset_kind') || has(averaged ? 'length' : 'offset'));
}

/** What the state asks of a scan. */
function askedOf(state: Readonly<State>) {
  const { length, tokens, correlation, offset } = state;
  return {
    ...{ length, tokens, correlation, offset },
    fold_gains: state.fold_gains === 'auto',
    average: state.offset_kind === 'average',
    embeddings: state.frame === 'embeddings',
  };
}

/** Reads the heads of one checkpoint; `heads` is 0 where config.json tells how many. */
export function scan(
  pool: Pool,
  { model, index, config }: Given,
  state: Readonly<State>,
  heads: number,
  options: RunOptions<'scan'>,
): Promise<Output<'scan'>> {
  const input: Input<'scan'> = {
    ...{ model, index, config, heads, mapping: null },
    ...askedOf(state),
  };
  return pool.run('scan', input, options);
}

/** What there is to say of a scan. */
export function reportOf(
  { name, model }: Given,
  { heads, bytes_read, excluded }: Output<'scan'>,
  state: Readonly<State>,
  seconds: number,
): string {
  const size = model.reduce((sum, file) => sum + file.size, 0);
  const left = excluded.length > 0 ? ` Left out: ${excluded.join(', ')}.` : '';
  return (
    `${count(heads.length)} heads of ${name}: read ${megabytes(bytes_read)} of ` +
    `${megabytes(size)} MB in ${seconds.toFixed(1)} s. ${framingOf(heads, state)}${left}`
  );
}

/** Which W the numbers are of. */
function framingOf(heads: Head[], state: Readonly<State>): string {
  const gains = [...new Set(heads.flatMap(({ folded }) => (folded ? folded.split(' ') : [])))];
  const parts = [gains.length > 0 ? `Gains folded: ${gains.join(', ')}` : 'No gains folded'];
  if (heads.some(({ rotary }) => rotary)) {
    const { offset_kind, offset, length } = state;
    parts.push(
      offset_kind === 'average'
        ? `rotary heads averaged over the offsets 0 to ${length - 1}`
        : `rotary heads at offset ${offset}`,
    );
  }
  if (state.frame === 'embeddings') parts.push('in the frame of the token embeddings');
  return `${parts.join('; ')}.`;
}

function megabytes(bytes: number): string {
  return (bytes / MEGA).toFixed(1);
}
