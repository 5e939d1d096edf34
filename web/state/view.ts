import type { Controls, StateOf, Values } from './control';

/** A view of the page: its tab, its controls and the state that these set. */
export interface View<C extends Controls = Controls> {
  title: string;
  controls: C;
  /** The state in which the view begins. */
  defaults: Readonly<StateOf<C>>;
  /** By names of controls of earlier pages: the values that a text in an old link stands for. */
  earlier: Readonly<Record<string, (text: string) => Values>>;
  /** The control that a link of the first view as it begins names: its bare address opens with a run of it. */
  running?: keyof C & string;
  /** What the closed sheet of controls shows of the state on a phone. */
  summary(state: Readonly<StateOf<C>>): string;
}
export type Views = Readonly<Record<string, View>>;

/** Declares a view; `begins` is where it begins elsewhere than its controls' defaults, `earlier` as in `View`. */
export function declareView<C extends Controls>(
  title: string,
  controls: C,
  summary: View<NoInfer<C>>['summary'],
  begins: Partial<StateOf<NoInfer<C>>> = {},
  earlier: View['earlier'] = {},
): View<C> {
  const entries = Object.entries(controls).map(([name, control]) => [name, control.default]);
  return { title, controls, defaults: { ...Object.fromEntries(entries), ...begins }, earlier, summary };
}

/** Whether a control changes anything in a state. */
export function isUsed({ controls }: View, name: string, state: Readonly<Values>): boolean {
  return controls[name]?.used?.(state) !== false;
}
