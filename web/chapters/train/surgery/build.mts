// Predicted and measured changes of heads after surgery on their spectra, cut to what the page shows.
import { readFileSync } from 'node:fs';
import { root, type BuildTools } from '../../../build-tools.mts';
import { MODELS, SURGERIES, type ModelChanges } from './words.ts';

/** Of a model in web/results/head-surgery.json. */
type Published = Omit<ModelChanges, 'slopes'> & {
  surgeries: { surgery: string; measures: { measure: string; slope: object }[] }[];
};

export async function build({ write }: BuildTools): Promise<void> {
  const published: Published[] = JSON.parse(readFileSync(`${root}web/results/head-surgery.json`, 'utf8'));
  const models = MODELS.map((name) => published.find((it) => it.name === name)!);
  const shown = models.map(({ name, places, changes, surgeries }) => ({
    ...{ name, places, changes },
    slopes: SURGERIES.flatMap(({ surgery, control, random }) =>
      [surgery, control, random].map((own) => {
        const { measures } = surgeries.find((it) => it.surgery === own)!;
        return { surgery: own, ...measures.find(({ measure }) => measure === 'entropy')!.slope };
      }),
    ),
  }));
  write('head-surgery.json', shown);
}
