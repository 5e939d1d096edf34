import { html } from '../ui/dom';
import type { Store } from '../state/store';
import { helpOf } from './help';
import {
  sliderOf,
  type ChoiceControl,
  type Control,
  type ListControl,
  type NumberControl,
  type SeveralControl,
  type TextControl,
} from '../state/control';
import { placeOf, stepped, valueAt } from './slider';

/** A control's place on the page: follows the state, and shows why a text was refused. */
export interface Field {
  name: string;
  follow(): void;
  complain(message: string): void;
}

const TRAVEL = 1000;
const KEYS: Record<string, number> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -10,
  PageUp: 10,
};

/** The parts that fields of every kind have: a label, an explanation, a place for refusals. */
function dress(host: HTMLElement, { name: view }: Store, name: string, control: Control) {
  const label = control.kind === 'number' ? `${control.label} ${control.sign}` : control.label;
  host.classList.add('field');
  const title = html('label', { htmlFor: `field-${view}-${name}`, innerHTML: label });
  const explanation = html('p', { id: `help-${view}-${name}`, className: 'help hidden', innerHTML: helpOf(control) });
  const error = html('p', { id: `error-${view}-${name}`, className: 'error' });
  error.setAttribute('role', 'status');
  host.append(title);
  return { explanation, error };
}

function complainer(input: HTMLElement, error: HTMLElement) {
  return (message: string) => {
    if (error.textContent !== message) error.textContent = message;
    if (message) input.setAttribute('aria-invalid', 'true');
    else input.removeAttribute('aria-invalid');
  };
}

/** A text field for a parameter; every keystroke is offered to the state. */
function textInput(store: Store, name: string): HTMLInputElement {
  const input = html('input', { id: `field-${store.name}-${name}`, type: 'text', autocomplete: 'off' });
  input.spellcheck = false;
  input.setAttribute('aria-describedby', `help-${store.name}-${name} error-${store.name}-${name}`);
  input.addEventListener('input', () => store.offer(name, input.value.trim(), false));
  input.addEventListener('change', () => store.offer(name, input.value.trim(), true));
  return input;
}

/** A number: exact in a text field, and by a slider over the range that is worth exploring. */
export function numberField(host: HTMLElement, store: Store, name: string, control: NumberControl): Field {
  const valueOf = () => Number(store.state[name]);
  const travel = () => sliderOf(control, store.state);
  const { explanation, error } = dress(host, store, name, control);
  const input = textInput(store, name);
  input.inputMode = 'decimal';
  const range = html('input', { type: 'range', min: '0', max: String(TRAVEL), step: '1' });
  range.setAttribute('aria-label', control.label);
  range.addEventListener('input', () => {
    const slider = travel();
    if (slider) store.set({ [name]: valueAt(slider, Number(range.value) / TRAVEL) }, false);
  });
  range.addEventListener('change', () => store.settle());
  range.addEventListener('keydown', (event) => {
    const steps = KEYS[event.key];
    const slider = travel();
    if (!slider || !steps) return;
    event.preventDefault();
    store.set({ [name]: stepped(slider, valueOf(), steps) }, false);
  });
  host.append(input, ...(travel() ? [range] : []), explanation, error);
  const follow = () => {
    const value = valueOf();
    const text = store.refused.get(name) ?? written(value);
    if (input.value.trim() !== text && !isSame(input, value)) input.value = text;
    const slider = travel();
    if (!slider) return;
    range.value = String(Math.round(TRAVEL * placeOf(slider, value)));
    range.setAttribute('aria-valuetext', String(value));
  };
  input.addEventListener('blur', follow);
  return { name, follow, complain: complainer(input, error) };
}

/** Characters of a number that fit in its field. */
const ROOM = 6;

/** A number in all its digits: with an exponent where the field is too narrow for another way. */
function written(value: number): string {
  const plain = String(value);
  const power = value.toExponential().replace('e+', 'e');
  return plain.length > ROOM && power.length < plain.length ? power : plain;
}

/** While a person types "0.10" it is not rewritten to "0.1" under the hand. */
function isSame(input: HTMLInputElement, value: number): boolean {
  return document.activeElement === input && Number(input.value) === value;
}

/** A text, such as a list of numbers or a sentence. */
export function textField(host: HTMLElement, store: Store, name: string, control: TextControl | ListControl): Field {
  const { explanation, error } = dress(host, store, name, control);
  const input = textInput(store, name);
  host.append(input, explanation, error);
  const follow = () => {
    const text = store.refused.get(name) ?? String(store.state[name]);
    if (input.value.trim() !== text) input.value = text;
  };
  return { name, follow, complain: complainer(input, error) };
}

/** One of a few, as a list that opens. */
export function selectField(host: HTMLElement, store: Store, name: string, control: ChoiceControl): Field {
  const { explanation, error } = dress(host, store, name, control);
  host.classList.add('choice');
  const select = html('select', { id: `field-${store.name}-${name}` });
  select.setAttribute('aria-describedby', `help-${store.name}-${name} error-${store.name}-${name}`);
  for (const [value, text] of Object.entries(control.choices)) select.add(new Option(text, value));
  select.addEventListener('change', () => store.offer(name, select.value, true));
  host.append(select, explanation, error);
  const follow = () => (select.value = String(store.state[name]));
  return { name, follow, complain: complainer(select, error) };
}

/** An input with its label for each choice, in a group. */
function optionsIn(group: HTMLElement, type: 'radio' | 'checkbox', name: string, choices: ChoiceControl['choices']) {
  return Object.entries(choices).map(([value, textContent]) => {
    const input = html('input', { type, name, value });
    group.append(html('label', {}, input, html('span', { textContent })));
    return input;
  });
}

/** One of a few, all of them in sight. */
export function segments(host: HTMLElement, store: Store, name: string, control: ChoiceControl): Field {
  // Not a fieldset: WebKit does not lay out its legend beside the buttons.
  const error = html('p', { className: 'error' });
  error.setAttribute('role', 'status');
  const title = html('span', { id: `title-${store.name}-${name}`, className: 'legend', textContent: control.label });
  const group = html('div', { className: 'segments', role: 'radiogroup' }, title);
  group.setAttribute('aria-labelledby', title.id);
  const inputs = optionsIn(group, 'radio', `field-${store.name}-${name}`, control.choices);
  for (const input of inputs) input.addEventListener('change', () => store.offer(name, input.value, true));
  host.append(group, error);
  const follow = () => inputs.forEach((it) => (it.checked = it.value === store.state[name]));
  return { name, follow, complain: complainer(group, error) };
}

/** Several of a few, each with a box; the names stand in the order in which they were chosen. */
export function checkboxes(host: HTMLElement, store: Store, name: string, control: SeveralControl): Field {
  const group = html('fieldset', { className: 'boxes' }, html('legend', { textContent: control.label }));
  const error = html('p', { id: `error-${store.name}-${name}`, className: 'error' });
  error.setAttribute('role', 'status');
  const chosen = () => String(store.state[name]).split(',');
  const inputs = optionsIn(group, 'checkbox', `field-${store.name}-${name}`, control.choices);
  for (const input of inputs) {
    input.addEventListener('change', () => {
      const rest = chosen().filter((it) => it !== input.value);
      store.offer(name, (input.checked ? [...rest, input.value] : rest).join(), true);
    });
  }
  host.append(group, error);
  const follow = () => inputs.forEach((it) => (it.checked = chosen().includes(it.value)));
  return { name, follow, complain: complainer(group, error) };
}
