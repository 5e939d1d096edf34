import first from '../../generated/uses-first.json';
import type { FigureOf } from '../../ui/registry';

/** What each lab finds in the chapter's own state, from the build. */
export const FIRST = first as unknown as Record<FigureOf<'uses'>, never>;
