// The runs that the chapter shows until a person trains: those with which it begins, on the page's text, and the
// attention of the head that is watched then.
import type { BuildTools } from '../../../build-tools.mts';
import type { RunRows } from '../../../engine/protocol';
import { rowsOf } from '../runs/log';

type Row = Record<string, number | null>;
type Measures = Record<string, Float64Array>;

/** The columns of a log whose names match, by the measure that the pattern's group names: row by row in one array. */
function measuresOf(rows: Row[], pattern: RegExp): Measures {
  const columns = new Map<string, string[]>();
  for (const name of Object.keys(rows[0])) {
    const measure = pattern.exec(name)?.[1];
    if (measure) columns.set(measure, [...(columns.get(measure) ?? []), name]);
  }
  const table = (names: string[]) => Float64Array.from(rows.flatMap((row) => names.map((name) => row[name] ?? NaN)));
  return Object.fromEntries([...columns].map(([measure, names]) => [measure, table(names)]));
}

/** A printed log as the engine gives it: measures of the run, of its layers and of its heads. */
function logOf(rows: Row[]) {
  return {
    step: Float64Array.from(rows, ({ step }) => step!),
    run: measuresOf(rows, /^(?!layer\d)(\w+)$/),
    layers: measuresOf(rows, /^layer\d+_(?!head\d)(\w+)$/),
    heads: measuresOf(rows, /^layer\d+_head\d+_(\w+)$/),
  };
}

function gridOf(weights: number[][]) {
  return { columns: weights.length, rows: weights.length, values: weights.flat() };
}

export async function build(tools: BuildTools): Promise<void> {
  const state = tools.defaults('train');
  const command = ['train', '--text', tools.text, '--regularizer', state.runs];
  const { runs } = await tools.eigenscope(...command, '--prompt', state.prompt);
  const [layer, head] = state.watched.split(':')[1]!.split('.').map(Number) as [number, number];
  const trained = runs.map((run: { regularizer: string; rows: Row[]; attention: { weights: number[][][][] } }) => {
    const rows = rowsOf(logOf(run.rows) as object as RunRows, state);
    const names = Object.keys(rows[0].value) as (keyof (typeof rows)[0]['value'])[];
    return {
      kind: run.regularizer,
      step: rows.map(({ step }) => step),
      value: Object.fromEntries(names.map((name) => [name, rows.map(({ value }) => value[name])])),
      heads: rows.map(({ heads }) => heads.map(({ x, y }) => [x, y])),
      attention: gridOf(run.attention.weights[layer]![head]!),
    };
  });
  tools.write('sample-runs.json', tools.rounded({ command: ['eigenscope', ...command].join(' '), runs: trained }, 5));
}
