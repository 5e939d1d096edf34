import { loadJson, type ShippedFile, once } from '../../../engine/shipped';
import surgery from '../../../generated/head-surgery.json?shipped';
import { sampleRunsFile } from '../runs/shown';
import { resultsOf, type PublishedResults, type ResultsFile } from './results';

const assets = import.meta.glob<Omit<ShippedFile, 'name'>>('../../../generated/experiments/*.json', {
  query: '?shipped',
  import: 'default',
  eager: true,
});

/** The published experiments, as the build wrote them: their files and results by their names. */
const published = new Map(
  Object.entries(assets).map(([path, asset]) => {
    const name = /([\w-]+)\.json$/.exec(path)![1];
    const file: ShippedFile = { ...asset, name: `results file of the experiment ${name}` };
    return [name, { file, results: once(() => loadJson<ResultsFile>(file).then(resultsOf)) }];
  }),
);

/** Predicted and measured changes of heads after surgery. */
export const surgeryFile: ShippedFile = { ...surgery, name: 'file of surgery on heads' };

/** All of them, and the runs that the build trained. */
export const resultsFiles: readonly ShippedFile[] = [
  sampleRunsFile,
  surgeryFile,
  ...[...published.values()].map(({ file }) => file),
];

/** The results of an experiment, fetched when they are first needed. Throws as `loadJson`. */
export function loadResults(experiment: string): Promise<PublishedResults> {
  const found = published.get(experiment);
  if (!found) throw new Error(`No run of the experiment ${experiment} is published yet.`);
  return found.results();
}
