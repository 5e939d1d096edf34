import { defaults, names, parse, table, type State, type StateName } from './table';

/** What a link says: the state, and the texts that the table refuses. */
export interface Link {
  state: State;
  refused: Map<StateName, string>;
}

/**
 * Reads a link. A refused text leaves its parameter as it is in `current`, so that the page keeps
 * what it shows.
 */
export function readHash(hash: string, current: State): Link {
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  const state = defaults();
  const refused = new Map<StateName, string>();
  for (const name of names) {
    const text = given.get(table[name].key);
    if (text === null) continue;
    const value = parse(name, text);
    if (value === undefined) refused.set(name, text);
    Object.assign(state, { [name]: value ?? current[name] });
  }
  return { state, refused };
}

/** Writes what differs from the defaults. */
export function writeHash(state: State): string {
  const plain = defaults();
  const given = names.filter((name) => state[name] !== plain[name]);
  // Only what a fragment would misread is escaped: a person should be able to read the link.
  const text = (value: string | number) =>
    encodeURIComponent(value).replace(/%2C/g, ',').replace(/%3A/g, ':').replace(/%20/g, '+');
  return given.map((name) => `${table[name].key}=${text(state[name])}`).join('&');
}
