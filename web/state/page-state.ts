import { namesOf, pick, type StateOf, type Values, areEqual } from './control';
import { headControls } from './heads';
import { hasValues, readLink, writeLink, type Link } from './link';
import { Signal } from './signal';
import { Store } from './store';
import type { Views } from './view';

/** What all views have in common. */
export const SHARED = namesOf(headControls);

/** Where the page was asked to go: a figure or another place by its id ('' for the view's top). */
interface Destination {
  view: string;
  place: string;
}

/**
 * The state of the page: one store a view, the view that is shown, and the address bar, which holds the
 * state of that view. What the views share is kept equal in all stores.
 */
export class PageState<V extends Views = Views> {
  /** Another view is shown, or another place of it was asked for. */
  readonly moved = new Signal<Destination>();
  /** The address bar has another fragment, which this page wrote. */
  readonly addressed = new Signal<string>();
  /** A link was read, which may hold what is unknown. */
  readonly read = new Signal<Link>();
  readonly stores: { readonly [N in keyof V]: Store<StateOf<V[N]['controls']>> };
  private readonly all: ReadonlyMap<string, Store>;
  private readonly first: string;
  private shown: string;
  /** The fragment as it was last read or written. */
  private known = '';
  private reading = false;
  private destination: Destination | null = null;

  /** `viewOf` says in which view a place of the page is, by its id; undefined for none. */
  constructor(
    readonly views: V,
    private viewOf: (id: string) => string | undefined,
  ) {
    this.all = new Map(Object.entries(views).map(([name, view]) => [name, new Store(name, view)]));
    this.stores = Object.fromEntries(this.all) as unknown as PageState<V>['stores'];
    [this.first] = this.all.keys();
    this.shown = this.first;
    for (const store of this.all.values()) {
      store.changed.subscribe(({ names, settled }) => {
        if (SHARED.some((name) => names.has(name))) this.share(store, settled);
        if (settled && store.name === this.shown) this.writeAddress();
      });
    }
    this.moved.subscribe((destination) => (this.destination = destination));
    addEventListener('hashchange', () => this.readAddress());
  }

  get view(): string {
    return this.shown;
  }

  /** The store of a view, by the view's name. */
  storeOf(view: string): Store {
    const store = this.all.get(view);
    if (!store) throw new Error(`the page has no view ${view}`);
    return store;
  }

  /** Reads the address bar: a link with values sets states, one without only goes to its place. */
  readAddress(): void {
    const { hash } = location;
    this.known = hash;
    if (!hasValues(hash)) return this.goTo(hash.slice(1));
    const link = this.linkOf(hash);
    const { view, figure, state, refused } = link;
    this.shown = view;
    this.reading = true; // the link stays as it was given
    this.storeOf(view).load(state, refused);
    this.reading = false;
    this.read.send(link);
    this.moved.send({ view, place: figure && `figure-${figure}` });
  }

  /** Shows a view as it was left; the way back leads to the one before. */
  show(view: string): void {
    if (view === this.shown) return;
    this.shown = view;
    this.write('pushState');
    this.moved.send({ view, place: '' });
  }

  /** Goes where it was last asked to go, as when the place was not there yet. */
  goAgain(): void {
    if (this.destination?.view === this.shown) this.moved.send(this.destination);
  }

  /** What a link says, with the present values in place of what is not allowed. */
  linkOf(hash: string): Link {
    return readLink(hash, this.views, (view) => this.storeOf(view).state);
  }

  /** Follows a link of the page itself: the controls `kept`, such as what the views share, stay as they are. */
  follow(hash: string, kept: readonly string[]): void {
    const { view, figure, state: given, refused } = this.linkOf(hash);
    const present = this.storeOf(view).state;
    const state = { ...given, ...pick(present, kept) };
    if (view !== this.shown || !areEqual(state, present)) this.write('pushState');
    this.shown = view;
    this.storeOf(view).load(state, refused);
    this.moved.send({ view, place: figure && `figure-${figure}` });
  }

  /** The address of a view as it is now, and of a figure in it; `carried` values come in place of the present ones. */
  addressOf(view: string, figure = '', carried: Values = {}): string {
    return this.hashOf(view, figure, carried) || location.pathname + location.search;
  }

  /** The fragment of that address: '' for the first view as it begins, unless its bare address shows something else. */
  private hashOf(view: string, figure: string, carried: Values = {}): string {
    const { view: declared, state } = this.storeOf(view);
    const hash = writeLink(view, declared, { ...state, ...carried }, figure);
    if (hash !== `#${this.first}`) return hash;
    const { running } = declared;
    return running ? `${hash}?${running}=${state[running]}` : '';
  }

  private goTo(id: string): void {
    const isView = this.all.has(id);
    const view = isView ? id : (this.viewOf(id) ?? (id ? this.shown : this.first));
    this.shown = view;
    this.moved.send({ view, place: isView ? '' : id });
    const [, figure = ''] = /^figure-(.*)$/.exec(id) ?? [];
    this.writeAddress(figure);
  }

  private share(from: Store, settled: boolean): void {
    const shared = pick(from.state, SHARED);
    for (const store of this.all.values()) {
      if (SHARED.some((name) => store.state[name] !== shared[name])) store.set(shared, settled);
    }
  }

  private writeAddress(figure = ''): void {
    // A link that was followed a moment ago, and is about to be read, is not written over.
    if (location.hash !== this.known && hasValues(location.hash)) return;
    if (this.reading) return;
    if (location.hash === this.hashOf(this.shown, figure)) this.known = location.hash;
    else this.write('replaceState', figure);
  }

  private write(how: 'pushState' | 'replaceState', figure = ''): void {
    history[how](null, '', this.addressOf(this.shown, figure));
    this.known = location.hash;
    this.addressed.send(this.known);
  }
}
