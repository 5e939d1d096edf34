// What the first screen does not need, a script of its own: the other chapters, and what stands below the first figure.
import '../styles/train.css';
import '../styles/checkpoint.css';
import '../styles/uses.css';
import markup from 'virtual:chapters';
import type { PageState } from '../state/page-state';
import { mapsFile } from './collapse/cells/first';
import { startCollapse } from './collapse/chapter';
import { startBelow } from './localize/below';
import type { LocalizeFigures } from './localize/chapter';
import type { LocalizationFigure } from './localize/lead/figure';
import { startModel } from './model/chapter';
import { sampleFiles } from './model/reading/samples';
import type { Chapter, Page } from './shared/page';
import { startTrain } from './train/chapter';
import { resultsFiles } from './train/experiments/files';
import { startUses } from './uses/chapter';
import { labsFiles } from './uses/files';
import { child } from '../ui/dom';
import type { VIEWS } from './views';

/** Puts the markup of the chapters into their sections. */
export function insertMarkup(): void {
  for (const [view, inner] of Object.entries(markup)) child(document, `#${view}`).innerHTML = inner;
}

/** The files that these chapters read. */
export const FILES = [mapsFile, ...labsFiles, ...sampleFiles, ...resultsFiles];

/** Starts every chapter but the first, whose other figures are added to `figures`. `controlsOf` are the controls that alone concern a figure. */
export function startOthers(
  page: Page,
  { localize, collapse, train, model, uses }: PageState<typeof VIEWS>['stores'],
  figures: LocalizeFigures,
  lead: LocalizationFigure,
): { chapters: Chapter[]; controlsOf: (figure: string) => readonly string[] | undefined } {
  const before = [startBelow(page, localize, figures, lead), startCollapse(page, collapse), startTrain(page, train)];
  const ownModel = startModel(page, model, localize);
  const labs = startUses(page, uses, ownModel.opened);
  return { chapters: [...before, ownModel, labs], controlsOf: labs.controlsOf };
}
