import { readHash, writeHash } from './hash';
import { defaults, names, parse, type State, type StateName } from './table';

/** What happened: the parameters that changed, and whether the hand has come to rest. */
export interface Change {
  names: ReadonlySet<StateName>;
  settled: boolean;
}
type Listener = (state: Readonly<State>, change: Change) => void;

/** A patch that does not settle by itself does so after this many milliseconds without another. */
const REST = 250;

/** The state of the page; the address bar holds it too. */
export class Store {
  private current: State = defaults();
  private listeners: Listener[] = [];
  private resting: number | undefined;
  private unsettled = new Set<StateName>();
  /** The fragment as it was last read or written. */
  private known = '';
  /** Texts given for parameters that the table does not allow, as they were typed. */
  readonly refused = new Map<StateName, string>();

  constructor() {
    this.readLink(false);
    addEventListener('hashchange', () => this.readLink(true));
  }

  get state(): Readonly<State> {
    return this.current;
  }

  subscribe(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** Changes parameters. Not settled: more of the same is coming, as while a slider is dragged. */
  set(patch: Partial<State>, settled = true): void {
    for (const name of Object.keys(patch) as StateName[]) this.refused.delete(name);
    this.apply({ ...this.current, ...patch }, settled, Object.keys(patch) as StateName[]);
  }

  /** Takes a text a person typed; keeps the old value and remembers the text if it is not allowed. */
  offer(name: StateName, text: string, settled: boolean): void {
    const value = parse(name, text);
    if (value !== undefined) return this.set({ [name]: value }, settled);
    this.refused.set(name, text);
    this.tell({ names: new Set(), settled: false }); // nothing changed but what was typed
  }

  /** Says that the hand has come to rest. */
  settle(): void {
    if (this.unsettled.size > 0) this.apply(this.current, true, []);
  }

  reset(): void {
    this.refused.clear();
    this.apply(defaults(), true, names);
  }

  private apply(next: State, settled: boolean, touched: StateName[]): void {
    const changed = new Set(touched);
    for (const name of names) if (next[name] !== this.current[name]) changed.add(name);
    this.current = next;
    clearTimeout(this.resting);
    if (settled) {
      for (const name of this.unsettled) changed.add(name);
      this.unsettled.clear();
      this.writeLink();
    } else {
      for (const name of changed) this.unsettled.add(name);
      this.resting = window.setTimeout(() => this.settle(), REST);
    }
    this.tell({ names: changed, settled });
  }

  private readLink(announce: boolean): void {
    // A fragment that names a place on the page is not a link to a state.
    if (location.hash.length > 1 && !location.hash.includes('=')) return this.writeLink();
    this.known = location.hash;
    const link = readHash(location.hash, this.current);
    this.refused.clear();
    link.refused.forEach((text, name) => this.refused.set(name, text));
    const touched = new Set(names.filter((name) => link.state[name] !== this.current[name]));
    for (const name of this.unsettled) touched.add(name);
    this.unsettled.clear();
    clearTimeout(this.resting);
    this.current = link.state;
    if (announce) this.tell({ names: touched, settled: true });
  }

  private writeLink(): void {
    // A link that was followed a moment ago, and is about to be read, is not written over.
    if (location.hash !== this.known && location.hash.includes('=')) return;
    const hash = writeHash(this.current);
    if (location.hash.replace(/^#/, '') !== hash) {
      history.replaceState(null, '', hash ? `#${hash}` : location.pathname + location.search);
    }
    this.known = location.hash;
  }

  private tell(change: Change): void {
    for (const listener of this.listeners) listener(this.current, change);
  }
}
