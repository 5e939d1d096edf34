// The results of the experiment on early warnings, cut to what the page shows.
import type { BuildTools } from '../../../build-tools.mts';
import { published } from '../build.mts';

interface Columns {
  axes: Record<string, number[]>;
  labels: Record<string, string[]>;
  seed: number[];
  curve: Record<string, unknown[]>;
}

/** The two measures that are drawn, at every fourth logged step, of odd seeds of what is not held back. */
function trajectories({ axes, labels, seed, curve }: Columns, held: Record<string, string[]>): Columns['curve'] {
  const thin = (values: unknown[]) => values.filter((_, at) => at % 4 === 0);
  const isHeld = (i: number) => Object.entries(held).some(([axis, of]) => of.includes(labels[axis][axes[axis][i]]));
  const drawn = seed.map((own, i) => own % 2 === 1 && !isHeld(i));
  const kept = ['spread.largest', 'self_excess.largest'].map((name) => [
    name,
    curve[name].map((values, i) => (drawn[i] ? thin(values as unknown[]) : [])),
  ]);
  return { step: thin(curve.step), ...Object.fromEntries(kept) };
}

export async function build({ write }: BuildTools): Promise<void> {
  const results = published('causes/early-warning-ramp');
  const [analysis] = results.analysis;
  results.columns.curve = trajectories(results.columns, analysis.held);
  const rows = analysis.rows.filter(({ group = 'hypothesis' }) => group === 'hypothesis');
  results.analysis = [{ ...analysis, rows }];
  write('experiments/early-warning-ramp.json', results);
}
