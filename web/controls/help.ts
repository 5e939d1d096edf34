import { short } from '../charts/format';
import type { Control, Limits } from '../state/control';
import { plainText } from '../state/described';
import { child } from '../ui/dom';

/** A number as people write it: 10¹² for 1e+12, and in all its digits where it is none of few. */
function plain(value: number): string {
  if (Number.isInteger(value) && Number(value.toPrecision(3)) !== value) return String(value);
  return short(value).replace(/^(−?)1·/, '$1');
}

/** What the library allows, in words. */
export function allowedText({ minimum, maximum, open_minimum, open_maximum, integer }: Limits): string {
  const from = open_minimum ? `above ${plain(minimum)}` : `from ${plain(minimum)}`;
  const to = open_maximum ? `below ${plain(maximum)}` : `to ${plain(maximum)}`;
  return `${integer ? 'an integer' : 'a number'} ${from} ${to}`;
}

/** What a control sets, its typical range and its permitted one, as HTML; '' for nothing. */
export function helpOf(control: Control): string {
  const { help } = control;
  if (control.kind !== 'number') return help && `${help}.`;
  const { slider, limits } = control;
  const typical = slider ? ` Typical: ${plain(slider.from)} to ${plain(slider.to)}.` : '';
  return `${help}.${typical} Allowed: ${allowedText(limits)}.`;
}

/**
 * A refusal in the page's words: the control's label for the parameter's name, no powers as 1e+12; the
 * refused text stays as it was typed.
 */
export function inPageWords(label: string, message: string): string {
  const end = message.indexOf(': found ');
  const [must, found] = end < 0 ? [message, ''] : [message.slice(0, end), message.slice(end)];
  return (
    must
      .replace(/^\w+(?=:| must )/, plainText(label))
      .replace(/\b\d+(?:\.\d+)?e[+-]?\d+\b/g, (text) => plain(Number(text))) + found
  );
}

/** Pixels between a control and its help. */
const GAP = 12;

/**
 * Shows what the control in use means, beside it: left of the panel, where the help moves nothing. While
 * a slider is held it gives way to the figure. (A screen reader reads the help of the field itself.)
 */
export function showHelp(controls: HTMLElement): void {
  const box = child(controls, '[data-help]');
  const hide = () => (box.hidden = true);
  controls.addEventListener('focusin', ({ target }) => {
    const field = (target as Element).closest<HTMLElement>('.panel .field');
    const text = field?.querySelector('.help')?.innerHTML;
    box.hidden = !text;
    if (!field || !text) return;
    box.innerHTML = text;
    const { top } = controls.getBoundingClientRect();
    box.style.top = `${field.getBoundingClientRect().top - top}px`;
    box.style.right = `calc(100% + ${GAP}px)`;
  });
  controls.addEventListener('focusout', hide);
  // Nor does it stay in the way of a hand that is elsewhere.
  document.addEventListener('pointerover', ({ target }) => {
    if (!controls.contains(target as Node)) hide();
  });
  controls.addEventListener('pointerdown', ({ target }) => {
    // The focus comes after this, and with it the help: it goes again.
    if ((target as Element).matches('input[type="range"]')) requestAnimationFrame(hide);
  });
  controls.addEventListener('scroll', hide, { capture: true });
  controls.addEventListener('keydown', ({ key }) => key === 'Escape' && hide());
}
