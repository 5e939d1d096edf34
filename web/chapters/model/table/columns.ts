import { referTo } from '../../../ui/registry';
import { indexOf, rowOf, type HeadMeasurements, type Worth } from '../reading/measurements';
import type { PlacedHead } from '../../../heads/registry';
import { refusal } from '../../../state/described';
import { LEVELS, VERDICTS } from '../predictors/words';
import type { State } from '../state';

/** A column of the table of heads. */
export interface Column {
  name: string;
  title: string;
  /** What it is, in a sentence. */
  help: string;
  /** NaN where it is not known. */
  value(head: PlacedHead, at: Found): number;
  /** Its least values are looked for first: places, and the entropy of sharp heads. */
  ascends?: true;
  /** Shown only where it is chosen. */
  optional?: true;
  /** Where it is a name, by which a filter may ask too; the value is then its place. */
  text?(head: PlacedHead, found: Found): string;
}

/** What is known of a head beside its spectrum: its place in the measurements, and what is chosen. */
export interface Found {
  measurements: HeadMeasurements;
  state: Pick<State, 'level' | 'qk_clip' | 'length'>;
}

/** The entropy of a head on the passages, NaN where it is not known. */
export function measuredEntropy(head: PlacedHead, { measurements }: Pick<Found, 'measurements'>): number {
  const at = indexOf(head, measurements.predictions);
  return measurements.predictions?.measured_entropy[at] ?? NaN;
}

function predicted(head: PlacedHead, { measurements, state: { level } }: Found): number {
  const at = indexOf(head, measurements.predictions);
  return at < 0 ? NaN : (measurements.predictions?.entropy[LEVELS.length * at + level] ?? NaN);
}

/** The number of a head's verdict, NaN where it is not known. */
function verdict(head: PlacedHead, { measurements }: Found): number {
  return measurements.predictions?.verdict[indexOf(head, measurements.predictions)] ?? NaN;
}

/** A quantity of the head's spectrum weighted by the covariance of the tokens. */
function weighted(name: 'spread' | 'components' | 'symmetric_share' | 'sink_gap') {
  return (head: PlacedHead, { measurements: { predictions } }: Pick<Found, 'measurements'>) =>
    predictions?.[`weighted_${name}`][indexOf(head, predictions)] ?? NaN;
}

function onText(name: 'entropy' | 'distance' | 'sink') {
  return (head: PlacedHead, { measurements: { text } }: Found) =>
    text ? (rowOf(head, text.heads)?.[name] ?? NaN) : NaN;
}

/** Measures on passages and on the sentence. */
const DISTANCE = 'mean distance between query and key, in tokens';
const SINK = 'attention to the first token and the separator (Xiao et al., 2023)';

/** Measures on the passages of a long text; scores with the papers that define them. */
const ON_PASSAGES = [
  ['distance', 'Distance', DISTANCE],
  ['sink', 'Sink', SINK],
  ['previous_token', 'Previous-token score', 'attention to the previous token (Olsson et al., 2022)'],
  [
    'duplicate_token',
    'Duplicate-token score',
    'attention to earlier occurrences of the query’s token (Wang et al., 2022)',
  ],
  [
    'induction',
    'Induction score',
    'attention to the token after the last earlier occurrence of the query’s token (Olsson et al., 2022)',
  ],
] as const;

function onPassages(name: (typeof ON_PASSAGES)[number][0]) {
  return (head: PlacedHead, { measurements: { corpus } }: Found) =>
    (corpus && rowOf(head, corpus.heads)?.[name]) ?? head.measured?.[name] ?? NaN;
}

/** The change of the loss without a head, or of the mean token for a model without a loss. */
function effectOf(worth: Worth | undefined): number {
  const changes = [worth?.loss_change, worth?.output_change].map((it) => it ?? NaN);
  return changes.find(Number.isFinite) ?? NaN;
}

/** All columns there can be, in their order. */
export const columns: readonly Column[] = [
  {
    name: 'stack',
    title: 'Stack',
    ascends: true,
    help: 'encoder, decoder, cross (from decoder to encoder), text, vision, or the prefix of its tensor names',
    value: ({ stack, model }) => (stack ? model.stacks.indexOf(stack) : NaN),
    text: ({ stack }) => stack,
  },
  { name: 'layer', title: 'Layer', ascends: true, help: 'number of the layer, from 0', value: ({ layer }) => layer },
  {
    name: 'head',
    title: 'Head',
    ascends: true,
    help: 'number of the head in its layer, from 0',
    value: ({ head }) => head,
  },
  {
    name: 'entropy',
    title: 'Entropy measured',
    ascends: true,
    help: `entropy on the passages of ${referTo('predictors')}`,
    value: measuredEntropy,
  },
  {
    name: 'predicted',
    title: 'Entropy predicted',
    ascends: true,
    help: `entropy that the chosen level of ${referTo('predictors')} predicts`,
    value: predicted,
  },
  {
    name: 'verdict',
    title: 'Predicted from',
    ascends: true,
    help:
      `statistics of the lowest level of ${referTo('predictors')} after which the error of the entropy stays below ` +
      '0.05; in a filter, hyphens replace spaces',
    value: verdict,
    text: (head, found) => VERDICTS[verdict(head, found)] ?? '',
  },
  { name: 'mean', title: 'Mean', help: 'mean of the eigenspectrum', value: ({ mean }) => mean },
  {
    name: 'frobenius',
    title: 'Var. Frobenius',
    help: '‖W‖²/d minus the squared mean',
    value: ({ variance_frobenius }) => variance_frobenius,
  },
  {
    name: 'modulus',
    title: 'Var. modulus',
    help: 'mean squared distance of the eigenvalues from their mean',
    value: ({ variance_modulus }) => variance_modulus,
  },
  {
    name: 'trace',
    title: 'Var. trace',
    help: 'tr(W²)/d minus the squared mean; negative for mostly imaginary spectra',
    value: ({ variance }) => variance,
  },
  {
    name: 'floor',
    title: 'Rank floor',
    help: 'least variance of a matrix of this rank with the same mean, m²(d/d_h − 1)',
    value: ({ rank_floor }) => rank_floor,
  },
  {
    name: 'localization',
    title: 'L predicted',
    help: 'localization that the isotropic theory predicts',
    value: ({ localization }) => localization ?? NaN,
  },
  {
    name: 'text_entropy',
    title: 'Entropy, text',
    ascends: true,
    help: `entropy on the sentence of ${referTo('head-text')}`,
    value: onText('entropy'),
  },
  ...ON_PASSAGES.map(([name, title, meaning]): Column => ({
    name,
    title,
    help: `${meaning}, mean over the first passages of a long text`,
    value: onPassages(name),
  })),
  {
    name: 'worth',
    title: 'Ablation effect',
    help:
      `effect of switching the head off on the sentence of ${referTo('wall')}: change of the loss in nats per token or, ` +
      'without a loss, 1 − cosine of the mean token',
    value: (head, { measurements }) => effectOf(measurements.worthOf(head)),
  },
  {
    name: 'bias_query',
    title: 'Query bias',
    help: 'norm of the query bias, which is not part of W, over the norm of the query weights',
    value: ({ bias_query }) => bias_query ?? NaN,
  },
  {
    name: 'bias_key',
    title: 'Key bias',
    help: 'norm of the key bias, which is not part of W, over the norm of the key weights',
    value: ({ bias_key }) => bias_key ?? NaN,
  },
  {
    name: 'text_distance',
    title: 'Distance, text',
    optional: true,
    help: `${DISTANCE}, on the sentence of ${referTo('head-text')}`,
    value: onText('distance'),
  },
  {
    name: 'text_sink',
    title: 'Sink, text',
    optional: true,
    help: `${SINK}, on the sentence of ${referTo('head-text')}`,
    value: onText('sink'),
  },
  {
    name: 'norm',
    title: 'Spectral norm',
    optional: true,
    help: 'largest singular value of W',
    value: ({ spectral_norm }) => spectral_norm ?? NaN,
  },
  {
    name: 'components',
    title: 'Components',
    optional: true,
    help: 'singular values that hold 90% of the sum of their squares',
    value: ({ components }) => components ?? NaN,
  },
  {
    name: 'symmetry',
    title: 'Symmetry',
    optional: true,
    help: '1 for a symmetric W, −1 for an antisymmetric one (score of Saponati et al., 2025)',
    value: ({ symmetric_share }) => 2 * (symmetric_share ?? NaN) - 1,
  },
  {
    name: 'directionality',
    title: 'Directionality',
    optional: true,
    help: '1 where only columns (key) of W have outlying norms, −1 where only rows (query) do (Saponati et al., 2025)',
    value: ({ directionality }) => directionality ?? NaN,
  },
  {
    name: 'logit_bound',
    title: 'Logit bound',
    optional: true,
    help:
      'upper bound of |logit| over all tokens that the norm before the projections can give, biases included; ' +
      'not known without such a norm or with query-key norms',
    value: ({ logit_bound }) => logit_bound ?? NaN,
  },
  {
    name: 'headroom',
    title: 'QK-Clip headroom',
    optional: true,
    help: 'QK-Clip limit over the logit bound; if at least 1, QK-Clip never rescales the head',
    value: ({ logit_bound }, { state: { qk_clip } }) => qk_clip / (logit_bound ?? NaN),
  },
  {
    name: 'weighted_norm',
    title: 'Norm, weighted',
    optional: true,
    help: `Frobenius norm of W weighted by the covariance of the tokens, as in ${referTo('token-metric')}`,
    value: weighted('spread'),
  },
  {
    name: 'weighted_components',
    title: 'Components, weighted',
    optional: true,
    help: 'singular values of the weighted W that hold 90% of the sum of their squares',
    value: weighted('components'),
  },
  {
    name: 'weighted_symmetry',
    title: 'Symmetry, weighted',
    optional: true,
    help: '1 for a symmetric weighted W, −1 for an antisymmetric one',
    value: (head, found) => 2 * weighted('symmetric_share')(head, found) - 1,
  },
  {
    name: 'sink_gap',
    title: 'Sink gap',
    optional: true,
    help: 'logit of the mean query on the key of the first token, minus that on the mean key',
    value: weighted('sink_gap'),
  },
];

/** Whether the page shows, sorts or filters by a column, or has it on an axis. */
export function isAsked(name: string, state: Readonly<State>): boolean {
  const { columns, order, filter, scatter_x, scatter_y, scatter_colour, steps_column } = state;
  const asked = [...columns.split(','), order.replace(/^-/, ''), scatter_x, scatter_y, scatter_colour, steps_column];
  return asked.includes(name) || filter.includes(name);
}

const known = () => columns.map(({ name }) => name).join(', ');

/** The optional columns in a list of names with commas between. Throws an Error that says which there are. */
export function optionalColumns(list: string): Column[] {
  const optional = columns.filter((column) => column.optional);
  const names = list.split(',').filter((name) => name !== '');
  const unknown = names.find((name) => !optional.some((column) => column.name === name));
  if (unknown === undefined) return optional.filter(({ name }) => names.includes(name));
  throw new Error(refusal('columns', `be of ${optional.map(({ name }) => name).join(', ')}`, unknown));
}

/** The column that an order names. Throws an Error that says which there are. */
export function columnOf(order: string): Column {
  const found = columns.find(({ name }) => name === order.replace(/^-/, ''));
  if (found) return found;
  throw new Error(refusal('order', `be a column, with a minus for the largest first (${known()})`, order));
}

/** The sign in front of a column's name says whether the largest come first. */
export function ordered<T>(list: readonly T[], order: string, value: (it: T) => number): T[] {
  const sign = order.startsWith('-') ? -1 : 1;
  // What is not known comes last either way.
  const key = (it: T) => (Number.isNaN(value(it)) ? Infinity : sign * value(it));
  const compare = (a: number, b: number) => (a === b ? 0 : a - b);
  return [...list].sort((a, b) => compare(key(a), key(b)));
}

const CONDITION = /^([a-z_]+)(<=|>=|<|>|=)([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)$/i;

/** One condition of a filter. */
interface Condition {
  name: string;
  holds(value: number, text?: string): boolean;
}

/** A name, with a hyphen for each space. */
const NAMED = /^([a-z_]+)=([a-z-]+)$/;

const SIGNS: Record<string, (a: number, b: number) => boolean> = {
  '<': (a, b) => a < b,
  '>': (a, b) => a > b,
  '<=': (a, b) => a <= b,
  '>=': (a, b) => a >= b,
  '=': (a, b) => a === b,
};

/**
 * Reads a filter: conditions with spaces or commas between, all of which must hold, such as "layer = 3
 * entropy<0.5". Throws an Error that names the condition at fault.
 */
export function conditionsOf(filter: string): Condition[] {
  const parts = filter
    .replace(/\s*([<>=]+)\s*/g, '$1')
    .split(/[\s,;]+/)
    .filter((part) => part !== '');
  return parts.map((part) => {
    const [, column, wanted] = NAMED.exec(part) ?? [];
    if (columns.some((it) => it.name === column && it.text)) {
      return { name: column, holds: (_, text) => text?.replaceAll(' ', '-') === wanted };
    }
    const [, name, sign, number] = CONDITION.exec(part) ?? [];
    if (!columns.some((column) => column.name === name)) {
      const must = `have conditions such as layer=3 entropy<0.5, of the columns ${known()}`;
      throw new Error(refusal('filter', must, part));
    }
    return { name, holds: (value) => SIGNS[sign](value, Number(number)) };
  });
}
