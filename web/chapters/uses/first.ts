import { loadJson, type ShippedFile } from '../../engine/shipped';
import asset from '../../generated/uses-first.json?shipped';
import type { FigureOf } from '../../ui/registry';
import { once } from '../shared/once';

export const labsFile: ShippedFile = { ...asset, name: 'file of the labs’ answers' };

export type Answers = Record<FigureOf<'uses'>, never>;

/** What each lab finds in the chapter's own state, from the build. Throws as `loadJson`. */
export const firstAnswers = once(() => loadJson<Answers>(labsFile));
