import { parse, type Values } from './control';
import type { View, Views } from './view';

/** What a link says: a view, the figure to begin at ('' for the first), and the view's state. */
export interface Link {
  view: string;
  figure: string;
  state: Values;
  /** It is of an earlier page, which wrote no view: the state is the one in which the view begins. */
  isOld: boolean;
  /** The texts that the controls refuse, by the names of these. */
  refused: Map<string, string>;
  /** Names that no control of the view has. */
  unknown: string[];
  /** Names that occur more than once, of which the first counts. */
  repeated: string[];
}

/** Whether a fragment holds values; without any it names a view or another place of the page. */
export function hasValues(hash: string): boolean {
  return hash.includes('=');
}

/**
 * Reads the link to a view, such as `#collapse?depth=24&figure=depth`. `present` is the state that a view
 * has: what a refused text leaves as it is.
 */
export function readLink(hash: string, views: Views, present: (view: string) => Readonly<Values>): Link {
  const [, name = '', values = ''] = /^#?([a-z]+)\?(.*)$/.exec(hash) ?? [];
  const isOld = !Object.hasOwn(views, name);
  const view = isOld ? Object.keys(views)[0] : name;
  const given = new URLSearchParams(isOld ? '' : values);
  const all = [...given.keys()];
  const { controls, defaults, earlier } = views[view];
  const link: Link = {
    view,
    figure: given.get('figure') ?? '',
    state: { ...defaults },
    isOld,
    refused: new Map(),
    unknown: [...new Set(all)].filter((it) => it !== 'figure' && !Object.hasOwn({ ...controls, ...earlier }, it)),
    repeated: all.filter((it, i) => all.indexOf(it) === i && all.includes(it, i + 1)),
  };
  for (const [name, valuesOf] of Object.entries(earlier)) {
    const text = given.get(name);
    if (text !== null) Object.assign(link.state, valuesOf(text));
  }
  for (const [name, control] of Object.entries(controls)) {
    const text = given.get(name);
    if (text === null) continue;
    const value = parse(control, text);
    if (value === undefined) link.refused.set(name, text);
    link.state[name] = value ?? present(view)[name];
  }
  return link;
}

/** Writes what differs from where the view begins; just the view's name for its beginning. */
export function writeLink(name: string, { controls, defaults }: View, state: Readonly<Values>, figure = ''): string {
  // Only what a fragment would misread is escaped: a person should be able to read the link.
  const text = (value: string | number) =>
    encodeURIComponent(value).replace(/%2C/g, ',').replace(/%3A/g, ':').replace(/%20/g, '+');
  const values = Object.keys(controls)
    .filter((control) => state[control] !== defaults[control])
    .map((control) => `${control}=${text(state[control])}`);
  if (figure) values.push(`figure=${figure}`);
  return values.length > 0 ? `#${name}?${values.join('&')}` : `#${name}`;
}
