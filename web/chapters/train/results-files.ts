import { loadJson, type ShippedFile } from '../../engine/shipped';
import { resultsOf, type PublishedResults, type ResultsFile } from './published-results';
import { sampleRunsFile } from './shown-runs';

const assets = import.meta.glob<Omit<ShippedFile, 'name'>>('../../generated/experiments/*.json', {
  query: '?shipped',
  import: 'default',
  eager: true,
});

/** The published experiments, as the build wrote them, by their names. */
const files = new Map<string, ShippedFile>(
  Object.entries(assets).map(([path, asset]) => {
    const name = /([\w-]+)\.json$/.exec(path)![1];
    return [name, { ...asset, name: `results file of the experiment ${name}` }];
  }),
);

/** All of them, and the runs that the build trained. */
export const resultsFiles: readonly ShippedFile[] = [sampleRunsFile, ...files.values()];

const parsed = new Map<string, Promise<PublishedResults>>();

/** The results of an experiment, fetched when they are first needed. Throws as `loadJson`. */
export function loadResults(experiment: string): Promise<PublishedResults> {
  const file = files.get(experiment);
  if (!file) throw new Error(`No run of the experiment ${experiment} is published yet.`);
  const results = parsed.get(experiment) ?? loadJson<ResultsFile>(file).then(resultsOf);
  parsed.set(experiment, results);
  results.catch(() => parsed.delete(experiment));
  return results;
}
