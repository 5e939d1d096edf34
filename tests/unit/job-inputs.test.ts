// What the engine is asked changes with every control that stands for a part of it.
import { expect, test } from 'vitest';
import { collapseView, STACK, stackOf } from '../../web/chapters/collapse/state';
import { localizeView } from '../../web/chapters/localize/state';
import { TRAINING, trainingOf, trainView } from '../../web/chapters/train/state';
import type { Lab } from '../../web/chapters/uses/lab';
import { ROOMS } from '../../web/chapters/uses/rooms';
import { usesView } from '../../web/chapters/uses/state';
import operations from '../../web/generated/operations.json';
import { controlsHtml } from '../../web/plugins/partials.mts';
import { pick, type Controls, type Values } from '../../web/state/control';
import { headControls } from '../../web/state/heads';
import { QUERY, queryOf } from '../../web/state/setting';

/** A state in which one value is another. */
function changed<S extends Values>(name: string, controls: Controls, state: S): S {
  const control = controls[name]!;
  const value = state[name];
  if (control.kind === 'number') return { ...state, [name]: Number(value) + 1 };
  if (control.kind === 'text' || control.kind === 'list') return { ...state, [name]: '3, 4' };
  return { ...state, [name]: Object.keys(control.choices).find((choice) => choice !== value) };
}

test('the page has a place for every control of the stack', () => {
  const html = controlsHtml('collapse');
  const placed = [...html.matchAll(/data-control="(\w+)"/g)].map(([, name]) => name!);
  const stack = placed.filter((name) => operations.collapse.fields.includes(name));
  expect(stack.sort()).toEqual([...STACK].sort());
});

test.each(STACK)('%s changes the stack that is asked for', (name) => {
  const state = { ...collapseView.defaults, ensemble: 'list' as const, eigenvalues: '1, 2' };
  const other = changed(name, collapseView.controls, state);
  expect(stackOf(other)).not.toEqual(stackOf(state));
});

test.each(QUERY)('%s changes whose rows are asked for', (name) => {
  const state = { ...localizeView.defaults, queries: 'one' as const };
  expect(queryOf(changed(name, localizeView.controls, state))).not.toEqual(queryOf(state));
});

test.each(TRAINING)('the setting %s of a training run changes the run', (name) => {
  const { controls, defaults } = trainView;
  const other = changed(name, controls, defaults);
  expect(trainingOf(other, 'none')).not.toEqual(trainingOf(defaults, 'none'));
});

const QUESTIONS = Object.values<Lab>(ROOMS).flatMap(({ questions }) => Object.values(questions));
/** Controls of the labs that choose what is drawn of an answer. */
const DRAWN = ['sink_chart', 'removal', 'agreement_scale', ...Object.keys(headControls)];

test.each(Object.keys(usesView.controls).filter((name) => !DRAWN.includes(name)))(
  '%s changes what a lab asks',
  (name) => {
    const { controls, defaults } = usesView;
    const other = changed(name, controls, defaults);
    const asked = (state: typeof defaults) => QUESTIONS.map(({ inputs }) => pick(state as Values, inputs));
    expect(asked(other)).not.toEqual(asked(defaults));
  },
);
