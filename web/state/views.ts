import { MASKING, QUERY, SETTING, STACK } from './setting';
import { defaults, type State, type StateName } from './table';
import { parameterOf, TRAINING } from './training';

/** A view of the page: what its tab says, and the parameters that it has for itself. */
interface View {
  title: string;
  names: readonly StateName[];
  /** Where the view begins elsewhere than the table of parameters. */
  defaults?: Partial<State>;
}

/** The views of the page, in the order of their tabs. */
export const VIEWS = {
  localize: {
    title: 'Localize',
    names: [
      ...SETTING,
      ...QUERY,
      ...(['samples', 'measure', 'spread', 'sigma', 'asymmetry', 'logit'] as const),
      ...MASKING,
    ],
  },
  collapse: {
    title: 'Collapse',
    names: [...STACK, 'rank', 'rows', 'floor', 'layer'],
    // A stack that collapses, with lines that part: attention alone, on independent tokens.
    defaults: {
      ...{ variance: 1, length: 64, tokens: 'ar1', correlation: 0 },
      ...{ mask: 'full', skip: 0, layer_norm: 'none' },
    },
  },
  train: {
    title: 'Train',
    names: [
      ...['runs' as const, ...TRAINING, 'run_spread' as const, 'asymmetry' as const],
      ...(['prompt', 'intervention', 'tame', 'watched', 'moment'] as const),
    ],
  },
  model: {
    title: 'Your model',
    names: [
      ...(['tokens_source', 'tokens_order', 'zipf_exponent', 'zipf_offset'] as const),
      ...(['quantity', 'level', 'passages', 'seed', 'reading', 'spread', 'zoom'] as const),
      ...(['order', 'filter', 'length', 'tokens', 'correlation'] as const),
      ...(['fold_gains', 'frame', 'offset_kind', 'offset', 'map_query', 'map_key'] as const),
      ...(['map_gain', 'map_layout', 'map_heads', 'map_key_heads'] as const),
    ],
  },
} as const satisfies Record<string, View>;

export type ViewName = keyof typeof VIEWS;
export const viewNames = Object.keys(VIEWS) as ViewName[];

/** What all views have in common: the model that is open, and the heads that are picked out. */
export const SHARED = ['sample', 'model', 'head', 'brush'] as const satisfies readonly StateName[];

/** The parameters that a link to a view may hold. */
export function namesOf(view: ViewName): readonly StateName[] {
  return [...VIEWS[view].names, ...SHARED];
}

/** The state that a view begins with. */
export function defaultsOf(view: ViewName): State {
  const { defaults: own }: View = VIEWS[view];
  return { ...defaults(), ...own };
}

/** What a parameter is called in a link to a view. */
export function linkName(view: ViewName, name: StateName): string {
  return (view === 'train' && parameterOf(name)) || name;
}
