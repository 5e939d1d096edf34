import type { Grid } from '../../../charts/heatmap';
import type { Entry } from '../../../charts/legend';
import type { LineLook } from '../../../charts/palette';
import type { Regularizer } from '../../../engine/protocol';
import { loadJson, type ShippedFile } from '../../../engine/shipped';
import asset from '../../../generated/sample-runs.json?shipped';
import { lineOf } from '../experiments/panels';
import { looksOf } from '../method-lines';
import { regularizers } from '../methods';
import { trainingOf, trainView } from '../state';
import type { RunComparison } from './comparison';
import type { Row } from './log';
import type { TrainingRun } from './run';

export const sampleRunsFile: ShippedFile = { ...asset, name: 'log file of the published runs' };

/** What figures show of a run. */
export interface ShownRun extends Pick<TrainingRun, 'kind' | 'training' | 'rows' | 'failure'> {
  /** The build trained it. */
  recorded?: boolean;
  /** Of a recorded run, what the watched head makes of the prompt in the end, both of the chapter's defaults. */
  attention?: Grid;
}

/** A run that the build trained with the page's defaults: its log as columns, with null for NaN. */
interface SampleRun {
  kind: Regularizer;
  step: number[];
  value: Record<string, (number | null)[]>;
  heads: [x: number, y: number][][];
  attention: Grid;
}

function runOf({ kind, step, value, heads, attention }: SampleRun): ShownRun {
  const rows = step.map((own, i) => {
    const entries = Object.entries(value).map(([name, list]) => [name, list[i] ?? NaN]);
    const places = heads[i].map(([x, y]) => ({ x, y }));
    return { step: own, value: Object.fromEntries(entries) as Row['value'], heads: places, signals: {} };
  });
  return { kind, training: trainingOf(trainView.defaults, kind), rows, failure: '', recorded: true, attention };
}

/** The runs that the figures show: those of the comparison; before it has a row, those that the build trained. */
export class ShownRuns {
  private sample: { command: string; runs: ShownRun[] } | null = null;

  constructor(private comparison: RunComparison) {}

  /** Fetches the build's runs where they are shown. Throws as `loadJson`. */
  async load(): Promise<void> {
    if (this.sample || !this.isEmpty) return;
    const { command, runs } = await loadJson<{ command: string; runs: SampleRun[] }>(sampleRunsFile);
    this.sample = { command, runs: runs.map(runOf) };
  }

  get all(): readonly ShownRun[] {
    return this.isEmpty && this.sample ? this.sample.runs : this.comparison.runs;
  }

  /** Where the runs come from, for captions; '' for those of the comparison. */
  get source(): string {
    return this.isEmpty && this.sample ? `Recorded runs until Play: ${this.sample.command}.` : '';
  }

  private get isEmpty(): boolean {
    return this.comparison.runs.every(({ rows }) => rows.length === 0);
  }
}

/** How a run styles wherever it is drawn. */
export interface RunStyle extends LineLook {
  run: ShownRun;
  name: string;
}

/** Runs with the colours and dashes of their regularizers. */
export function stylesOf(runs: readonly ShownRun[]): RunStyle[] {
  const looks = looksOf(runs.map(({ kind }) => kind));
  return runs.map((run, i) => ({
    run,
    name: regularizers[run.kind] + (run.recorded ? ' (recorded)' : ''),
    ...looks[i],
  }));
}

/** Legend entries of the runs. */
export function runEntries(styles: RunStyle[]): Entry[] {
  return styles.map((style) => lineOf(style.name, style));
}
