import { short } from '../charts/format';
import { withError } from '../charts/with-error';
import values from '../generated/preset-values.json';
import type { Values } from '../state/control';
import { writeLink } from '../state/link';
import type { View } from '../state/view';
import { entryOf, referTo, type FigureId } from '../ui/registry';
import { collapsePresets } from './collapse/presets';
import { localizePresets } from './localize/lead/words';
import type { Preset } from './shared/preset';
import { judged, stampOf, type Stamp } from './uses/lab';
import { LABS } from './uses/labs';
import { VIEWS, type ViewName } from './views';

/** The presets of each view that has some. */
export const PRESETS = {
  localize: localizePresets,
  collapse: collapsePresets,
  uses: LABS.flatMap(({ figure, presets }) => presets.map((preset) => ({ figure, state: {}, ...preset }))),
};

/** What the file of values has at a path such as collapse.pure.residual.12. */
function found(path: string): unknown {
  let at: unknown = values;
  for (const part of path.split('.')) at = (at as Record<string, unknown> | undefined)?.[part];
  return at;
}

/** The numbers in a text, as paths into the file of values. */
export function pathsIn(text: string): string[] {
  return [...text.matchAll(/\{([a-z]\w*(?:\.\w+)+)\}/g)].map(([, path]) => path);
}

/** A number of the file of values, as a sentence writes it: with ± two standard errors where they were measured. */
export function valueText(path: string): string {
  const value = found(path);
  if (typeof value !== 'number') throw new Error(`no value was measured for {${path}}`);
  const error = found(`${path}_error`);
  const unbroken = (text: string) => text.replaceAll(' ', '\u00a0');
  return typeof error === 'number' ? unbroken(withError(value, error)) : short(value);
}

const STAMPS: Record<Stamp, string> = { holds: 'holds', half: 'half holds', fails: 'fails', open: 'open' };

/**
 * What the numbers of a lab say of its source's claim, as HTML; '' for a figure that is no lab. `named` adds the presets in
 * which the claim fails or is open, where it half holds.
 */
export function stampHtml(id: FigureId, named = false): string {
  const lab = LABS.find(({ figure }) => figure === id);
  if (!lab) return '';
  const measured = values.uses as Record<string, unknown>;
  const presets = judged(lab.presets, measured);
  const stamp = stampOf(presets, measured);
  const others = (['fails', 'open'] as const).map((verdict) => {
    const names = presets.filter(({ source }) => source === verdict).map(({ name }) => `“${name}”`);
    return names.length > 0 ? `; ${STAMPS[verdict]}: ${names.join(', ')}` : '';
  });
  const where = named && stamp === 'half' ? others.join('') : '';
  return `<span class="stamp" data-stamp="${stamp}">Source’s claim: <b>${STAMPS[stamp]}</b>${where}</span>`;
}

/** Where the tour of a chapter ends: a place of the page and what the link to it says. */
const ENDS: Partial<Record<ViewName, { href: string; name: string }>> = {
  localize: { href: '#field-model-reading', name: 'Type your sentence' },
};

function hrefOf(view: ViewName, state: Preset['state'], id: FigureId): string {
  const { [view]: declared } = VIEWS;
  const full = { ...declared.defaults, ...state } as Values;
  return writeLink(view, declared as View, full, id).replaceAll('&', '&amp;');
}

/** The sentence of a preset, with its numbers. */
function textOf(view: ViewName, preset: Preset): string {
  return pathsIn(preset.text).reduce(
    (html, path) => html.replace(`{${path}}`, valueText(`${view}.${path}`)),
    preset.text,
  );
}

/** Below a step of a tour: the way to the next one, and out of the tour. */
function wayOn(view: ViewName, id: FigureId, steps: readonly Preset[], at: number): string {
  const next = steps[at + 1];
  const end = ENDS[view];
  const link = next
    ? `<a class="next" href="${hrefOf(view, next.state, id)}">Next: ${next.name}</a>`
    : end && `<a href="${end.href}">${end.name}</a>`;
  const skip = `<a class="next" href="${hrefOf(view, {}, id)}">${next ? 'Skip the tour' : 'Back to the start'}</a>`;
  return ` <span class="way">${link ?? ''} ${skip}</span>`;
}

/** The presets of a figure as links, its tour first, with the sentence of the one that is chosen; '' for none. */
export function presetsHtml(id: FigureId): string {
  const view = entryOf(id).chapter;
  const ofView: readonly Preset[] = view in PRESETS ? PRESETS[view as keyof typeof PRESETS] : [];
  const own = ofView.filter(({ figure }) => figure === id);
  if (own.length === 0) return '';
  const steps = own.filter(({ step }) => step !== undefined);
  const linkOf = ({ id: name, name: text, state, step, free = [] }: Preset) => {
    const place = step ? `<span aria-hidden="true">${step}</span> ` : '';
    const data = `data-text="preset-${view}-${name}" data-free="${free.join(' ')}"`;
    const href = hrefOf(view, state, id);
    return `<li><a class="preset${step ? ' step' : ''}" ${data} href="${href}">${place}${text}</a></li>`;
  };
  const others = own.filter(({ step }) => step === undefined);
  const list = (presets: readonly Preset[], name: string) =>
    `<ul aria-label="${name} of ${referTo(id)}">${presets.map(linkOf).join('')}</ul>`;
  const all =
    steps.length > 0 && others.length > 0
      ? `${list(steps, 'Tour')}<details class="more-presets"><summary>More</summary>${list(others, 'Presets')}</details>`
      : list(own, steps.length > 0 ? 'Tour' : 'Presets');
  const texts = own.map((preset) => {
    const { step, name } = preset;
    const said = `<b>${step ? `${step} of ${steps.length}. ` : ''}${name}.</b> ${textOf(view, preset)}`;
    const way = step ? wayOn(view, id, steps, steps.indexOf(preset)) : '';
    return `<p id="preset-${view}-${preset.id}" hidden>${said}${way}</p>`;
  });
  const [first] = steps;
  const hint = first
    ? 'Drag the lower handle of the spectrum. Squeeze the eigenvalues together: $L$ rises. ' +
      `<a class="next" href="${hrefOf(view, first.state, id)}">Start the tour</a>`
    : 'Choose a preset for its finding.';
  return `<div class="presets${first ? ' tour' : ''}">
    ${all}
    <div class="preset-text" role="status"><p class="hint">${hint}</p>${texts.join('')}</div>
  </div>`;
}
