import { Controls } from '../../controls/panel';
import { child } from '../../ui/dom';
import { entryOf, type FigureOf } from '../../ui/registry';
import { runFigures } from '../../ui/run-figures';
import type { OpenedCheckpoint } from '../shared/checkpoint';
import type { Chapter, Page } from '../shared/page';
import type { Lab } from './lab';
import { LabFigure, type Drawing } from './lab-figure';
import { LabModel, ModelLab } from './model-lab';
import { ROOMS } from './rooms';
import type { State, Store } from './state';

/** What each room draws, by its path. */
const drawings = import.meta.glob<Drawing<object>>('./*/figure.ts', { eager: true, import: 'default' });

/** Labs: what localization does for learning and reading. `opened` is the checkpoint of Your model. */
export function startUses(
  { pool, heads }: Page,
  store: Store,
  opened: OpenedCheckpoint,
): Chapter & { controlsOf: (figure: string) => readonly string[] | undefined } {
  const [sample] = heads.shown('shown');
  const model = new LabModel(opened, sample.name);
  const controls = new Controls(store, pool);
  const labs = Object.entries<Lab>(ROOMS).map(([room, lab]) => {
    const { [`./${room}/figure.ts`]: drawing } = drawings;
    return drawing.onModel
      ? new ModelLab(lab as Lab<object>, drawing, store, model)
      : new LabFigure(lab as Lab<object>, drawing, store);
  });
  const onModel = labs.filter((lab) => lab instanceof ModelLab).map(({ id }) => id);
  const byId = Object.fromEntries(labs.map((lab) => [lab.id, lab])) as Record<FigureOf<'uses'>, LabFigure<object>>;
  const figures = runFigures<FigureOf<'uses'>, State>(byId, store, pool, (id) => ({
    failed: (error) => controls.failed(error),
    ...(onModel.includes(id) && { origin: () => ({ model: model.name }) }),
  }));
  model.changed.subscribe(() => {
    for (const id of onModel) figures.runners[id].request('full');
  });
  controls.showOnlyFor(figures.inSight);
  showOneLab();
  const controlsOf = (figure: string) => {
    const lab = labs.find(({ id }) => id === figure);
    return lab && [...lab.inputs, ...lab.repaintOn];
  };
  return { ...figures, controlsOf };
}

/** Shows one lab at a time, the first unless a link has opened another, and marks its card. */
function showOneLab(): void {
  const labs = [...document.querySelectorAll<HTMLDetailsElement>('#uses .labs > details')];
  for (const [i, lab] of labs.entries()) {
    lab.append(wayOf(labs[i - 1], labs[i + 1]));
    const card = child(document, `.lab-cards a[href="#${child(lab, '.figure').id}"]`);
    const mark = () => {
      if (lab.open) card.setAttribute('aria-current', 'true');
      else card.removeAttribute('aria-current');
    };
    lab.addEventListener('toggle', mark);
    lab.name = 'lab'; // the browser closes the others of a name
  }
  if (!labs.some(({ open }) => open)) labs[0].open = true;
}

/** Links to the labs before and after one. */
function wayOf(previous?: HTMLElement, next?: HTMLElement): HTMLElement {
  const way = Object.assign(document.createElement('nav'), { className: 'lab-way', ariaLabel: 'Other labs' });
  const link = (text: string, lab?: HTMLElement) => {
    if (!lab) return document.createElement('span');
    const { id } = child(lab, '.figure');
    const { brief } = entryOf(id.replace('figure-', '') as FigureOf<'uses'>);
    return Object.assign(document.createElement('a'), { href: `#${id}`, textContent: `${text}: ${brief}` });
  };
  way.append(link('Previous lab', previous), link('Next lab', next));
  return way;
}
