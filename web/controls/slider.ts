import type { Slider } from '../state/control';

/** The slider's place in [0, 1] for a value; values outside its travel sit at the end. */
export function placeOf({ scale, from, to }: Slider, value: number): number {
  const inside = Math.min(to, Math.max(from, value));
  if (scale === 'log') return Math.log(inside / from) / Math.log(to / from);
  if (scale === 'linear') return (inside - from) / (to - from || 1);
  return 0.5 + 0.5 * Math.sign(inside) * Math.sqrt(Math.abs(inside) / to);
}

/** The value at a place in [0, 1], rounded to what a hand can mean. */
export function valueAt({ scale, from, to, integer }: Slider, place: number): number {
  const inside = Math.min(1, Math.max(0, place));
  if (scale === 'log') {
    const value = from * (to / from) ** inside;
    return integer ? Math.round(value) : Number(value.toPrecision(3));
  }
  if (scale === 'linear') {
    const value = from + inside * (to - from);
    return integer ? Math.round(value) : Number(value.toFixed(3));
  }
  const side = 2 * inside - 1;
  return Number((Math.sign(side) * side * side * to).toFixed(3));
}

/** One arrow key: a hundredth of the travel, at least 1 for integers. */
export function stepped(slider: Slider, value: number, steps: number): number {
  const { from, to, integer } = slider;
  const start = Math.min(to, Math.max(from, value));
  const next = valueAt(slider, placeOf(slider, start) + steps / 100);
  if (!integer || Math.abs(next - start) >= 1) return next;
  return Math.min(to, Math.max(from, start + Math.sign(steps)));
}
