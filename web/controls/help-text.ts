import { short } from '../charts/format';
import type { Control, Limits } from '../state/control';
import { plainText } from '../state/described';

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
