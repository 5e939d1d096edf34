import { parse, pick, type Values } from './control';
import { Signal } from './signal';
import type { View } from './view';

/** What happened: the controls whose values changed. */
export interface Change {
  names: ReadonlySet<string>;
  /** No more of the same is coming. */
  settled: boolean;
  /** A link was read: no person has set the values one by one. */
  linked: boolean;
}

/** A patch that does not settle by itself does so after this many milliseconds without another. */
const REST = 250;

/** The state of one view. */
export class Store<S extends Values = Values> {
  readonly changed = new Signal<Change>();
  private current: S;
  private resting: number | undefined;
  private unsettled = new Set<string>();
  /** Texts given for controls that do not allow them, as they were typed. */
  readonly refused = new Map<string, string>();
  /** What a link that is copied has beside the state: numbers that whoever opens it could not compute. */
  carried: () => Values = () => ({});

  constructor(
    readonly name: string,
    readonly view: View,
  ) {
    this.current = { ...view.defaults } as S;
  }

  get state(): Readonly<S> {
    return this.current;
  }

  /** Whether a change is not settled yet. */
  get busy(): boolean {
    return this.unsettled.size > 0;
  }

  /** Changes values. Not settled: more of the same is coming, as while a slider is dragged. */
  set(patch: Partial<S>, settled = true): void {
    const names = Object.keys(patch);
    for (const name of names) this.refused.delete(name);
    this.apply({ ...this.current, ...patch }, settled, names);
  }

  /** Takes the present values of some controls; what it returns puts them back. */
  keep(...names: (keyof S & string)[]): () => void {
    const kept = pick(this.current, names) as Partial<S>;
    return () => this.set(kept);
  }

  /** Takes a text a person typed; keeps the old value and remembers the text if it is not allowed. */
  offer(name: string, text: string, settled: boolean): void {
    const value = parse(this.view.controls[name], text);
    if (value !== undefined) return this.set({ [name]: value } as Partial<S>, settled);
    this.refused.set(name, text);
    this.changed.send({ names: new Set(), settled: false, linked: false }); // nothing changed but what was typed
  }

  /** Says that no more of the same is coming. */
  settle(): void {
    if (this.unsettled.size > 0) this.apply(this.current, true, []);
  }

  reset(): void {
    const { defaults, controls } = this.view;
    this.refused.clear();
    this.apply({ ...defaults } as S, true, Object.keys(controls));
  }

  /** Puts in the state of a link, with the texts in it that are not allowed. */
  load(state: S, refused: ReadonlyMap<string, string>): void {
    this.refused.clear();
    refused.forEach((text, name) => this.refused.set(name, text));
    this.apply(state, true, [], true);
  }

  private apply(next: S, settled: boolean, touched: string[], linked = false): void {
    const changed = new Set(touched);
    for (const name of Object.keys(this.view.controls)) {
      if (next[name] !== this.current[name]) changed.add(name);
    }
    this.current = next;
    clearTimeout(this.resting);
    if (settled) {
      for (const name of this.unsettled) changed.add(name);
      this.unsettled.clear();
    } else {
      for (const name of changed) this.unsettled.add(name);
      this.resting = window.setTimeout(() => this.settle(), REST);
    }
    this.changed.send({ names: changed, settled, linked });
  }
}
