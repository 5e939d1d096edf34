import { collapseView } from './collapse/state';
import { localizeView } from './localize/state';
import { modelView } from './model/state';
import { trainView } from './train/state';
import { usesView } from './uses/state';

/** The views of the page, in the order of their tabs. */
export const VIEWS = {
  localize: localizeView,
  collapse: collapseView,
  train: trainView,
  model: modelView,
  uses: usesView,
};
export type ViewName = keyof typeof VIEWS;
export const viewNames = Object.keys(VIEWS) as ViewName[];
