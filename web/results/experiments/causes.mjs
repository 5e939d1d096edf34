// The tables of the page with the results of the experiments on causes, by the rules of their plan (README.md).
import { claimed, code, estimated, intervalText, probability, shown, table } from '../tables.mjs';
import { analysed, resultsOf, runsOf } from './tables.mjs';

const [results, FAULTS, RAMPS] = ['equal-deviation', 'early-warning', 'early-warning-ramp'].map((name) =>
  resultsOf(`causes/${name}`),
);

/** Of the hypotheses by number, and what their intervals are of. */
const PREDICTIONS = [
  'bounded: change of the deviation over the baseline’s',
  'biases: share of the variance below 0.1',
  'cheaper: difference of the costs',
  'positive: cost below 0',
];

const costs = () => analysed(results, 'equal_deviation').filter((row) => !('against' in row));
const tests = () => analysed(results, 'equal_deviation').filter((row) => 'against' in row);
const methods = () => analysed(results, 'bias_shares');
const verdicts = () => analysed(results, 'deviation_verdicts');
const measured = (method, measure) => results.summary.find(({ axes }) => axes.method === method)[measure].mean;

const stateOf = (of) =>
  `${runsOf(of)} of ${runsOf(of) + of.missing.length} planned runs have a result; ${Object.keys(of.columns.failures).length} of them failed.`;

/** Of sentences and tables on early warning: the results, which of their analyses, and the groups of its tests. */
const TESTED = ['hypothesis', 'hypothesis-llama'];
const WARNINGS = {
  faults: { of: FAULTS, groups: TESTED },
  ramp: { of: RAMPS, groups: TESTED },
  transfer: { of: RAMPS, groups: ['transfer', 'transfer-llama'] },
  deep: { of: RAMPS, at: 1, groups: TESTED },
};
/** The rows of a kind of one of its analyses. */
const warned = ({ of, at = 0 }, kind) => of.analysis[at].rows.filter((row) => row.of === kind);
/** Names of sentences have no spaces. */
const spaced = (name) => name.replace('z_score', 'z score');
/** The row of a signal, or of the `line` or the `chosen` one, in a group. */
const warningOf = (name, group, signal) =>
  warned(WARNINGS[name], 'signal').find(
    (row) =>
      row.group === group &&
      (signal === 'line' ? row.given : signal === 'chosen' ? row.chosen : row.signal === spaced(signal) && !row.given),
  );
const advantageOf = (name, group, signal, against) =>
  warned(WARNINGS[name], 'advantage').find(
    (row) => row.group === group && row.against === spaced(against) && row.given === (signal === 'line'),
  );
const percent = (count, of) => (of > 0 ? `${count} of ${of}` : '');
/** A signal as the tables name it: with its direction, or its given line. */
const signalName = ({ signal, direction, given, threshold }) =>
  given
    ? `${code(signal)} above ${shown(threshold, 2)} (freezing line)`
    : `${code(signal)} ${direction > 0 ? 'high' : 'low'}`;

const leadText = ({ lead_low: low, lead_high: high }) => intervalText({ low, high }, 0);
/** How a table has a row of a signal and group: false alarms, detection, lead and its null. */
const performance = (row) => [
  ...[percent(row.false_alarms, row.healthy), percent(row.detected, row.failing), shown(row.lead, 0)],
  leadText(row),
  ...[shown(row.mean_lead, 0), shown(row.null_lead, 0), probability(row.null_p)],
];
const PERFORMANCE = [
  ...['false alarms', 'detected', 'lead in steps, median', '95% interval'],
  ...['mean lead', 'mean by chance', 'p'],
];

/** A table without the columns in which no row has anything. */
function filledTable(titles, rows) {
  const filled = (cells) => cells.filter((_, at) => rows.some((row) => row[at]));
  return rows.length > 0 ? table(filled(titles), rows.map(filled)) : 'No run yet.';
}

/** The runs of a fault and model, and those of them that fail. */
const fateRow = (warning, fault, model) =>
  warned(warning, 'runs').find((row) => row.fault === fault && row.model === model);

/** What the plan decides on depth 8, mild faults and a change of the text; open while a planned run is missing. */
function leftOutVerdicts() {
  const lacks = (...labels) => RAMPS.missing.some((id) => labels.some((label) => id.split(',').includes(label)));
  const decided = (isOpen, verdict) => (isOpen ? 'open: runs are missing' : verdict());
  const tested = (name, group) =>
    ['z_score', 'gradient_norm'].map((against) => advantageOf(name, group, 'chosen', against)?.verdict);
  const isEach = (verdicts) => (verdicts[0] === verdicts[1] ? verdicts[0] : verdicts.join(' and '));
  const failing = (fault) => {
    const rows = RAMPS.columns.labels.model.map((model) => fateRow(WARNINGS.ramp, fault, model)).filter(Boolean);
    const sum = (of) => rows.reduce((total, row) => total + row[of], 0);
    return { failing: sum('failing'), runs: sum('runs') };
  };
  const text = () => {
    const [lasting, short] = ['reversed', 'reversed-40'].map(failing);
    const [chosen, score] = ['chosen', 'z_score'].map((signal) => warningOf('ramp', 'reversed', signal).detected);
    return lasting.failing === lasting.runs && short.failing === 0 && chosen < score ? 'confirmed' : 'refuted';
  };
  const mild = () => (['rate-2', 'beta2-0.9'].every((fault) => failing(fault).failing === 0) ? 'confirmed' : 'refuted');
  const faults = ['rate-2', 'beta2-0.9', 'reversed', 'reversed-40'].map((fault) => `fault=${fault}`);
  return table('hypothesis | verdict by the plan', [
    [
      '1. The alarm chosen at depth 4 is earlier at depth 8',
      decided(lacks('model=pre-8'), () => isEach(tested('transfer', 'transfer'))),
    ],
    [
      '2. An alarm chosen at depth 8 is earlier',
      decided(lacks('model=pre-8'), () => isEach(tested('deep', 'hypothesis'))),
    ],
    ['3. Mild faults make no run fail', decided(lacks(...faults.slice(0, 2)), mild)],
    ['4. A change of the text is announced by the loss first', decided(lacks(...faults.slice(2)), text)],
  ]);
}

/** Tables of an analysis of early warnings: signals over its faults, and the tests of the plan. */
function warningTables([name, warning]) {
  const all = warned(warning, 'signal');
  const { fault: faults, model: models } = warning.of.columns.labels;
  const referred = (row) => row.given || row.chosen || ['z score', 'gradient_norm'].includes(row.signal);
  const separated = Object.keys(all[0] ?? {}).filter((key) => key.startsWith('separation_'));
  const ofSignals = (group) =>
    filledTable(
      ['signal', 'threshold', ...PERFORMANCE, 'timing', 'p', ...separated.map((key) => key.replace('_', ' at '))],
      all
        .filter((row) => row.group === group && row.failing > 0)
        .map((row) => [
          ...[signalName(row) + (row.chosen ? ' (chosen)' : ''), shown(row.threshold, 3), ...performance(row)],
          ...[shown(row.timing, 2), probability(row.timing_p), ...separated.map((key) => shown(row[key], 2))],
        ]),
    );
  const fateOf = (fault, model) => {
    const fate = fateRow(warning, fault, model);
    return !fate?.runs ? '' : `${percent(fate.failing, fate.runs)}${fate.reached ? ` (${fate.reached})` : ''}`;
  };
  const faultCell = (row) =>
    [
      row.own_healthy > 0 && `${percent(row.own_alarms, row.own_healthy)} false`,
      row.failing > 0 && `${percent(row.detected, row.failing)} detected, lead ${shown(row.lead, 0)}`,
    ]
      .filter(Boolean)
      .join('; ');
  const [tested, held] = warning.groups;
  return {
    [`${name} state`]: stateOf(warning.of),
    [`${name} fates`]: table(
      ['fault', ...models.map(code)],
      faults.map((fault) => [code(fault), ...models.map((model) => fateOf(fault, model))]),
    ),
    [`${name} tests`]: filledTable(
      ['alarm', 'against', 'models', 'failing runs', 'steps earlier, median', '95% interval', 'over seeds', 'verdict'],
      warned(warning, 'advantage')
        .filter(({ runs, group }) => runs > 0 && warning.groups.includes(group))
        .map((row) => [
          row.given ? `${code(row.signal)}, freezing line` : `${code(row.signal)} (chosen)`,
          ...[code(row.against), row.group === held ? 'llama' : 'others', row.runs],
          ...[shown(row.steps, 0), intervalText(row, 0), intervalText({ low: row.seeds_low, high: row.seeds_high }, 0)],
          row.verdict ?? '',
        ]),
    ),
    [`${name} signals`]: ofSignals(tested),
    [`${name} signals on llama`]: ofSignals(held),
    [`${name} by fault`]: filledTable(
      ['fault', ...all.filter((row) => row.group === tested && referred(row)).map(signalName)],
      faults
        .filter((fault) => all.some(({ group }) => group === fault))
        .map((fault) => [code(fault), ...all.filter((row) => row.group === fault && referred(row)).map(faultCell)]),
    ),
  };
}

/** By the marker of their place in the page: tables in Markdown. */
export const tables = () =>
  Object.assign(
    deviationTables(),
    { 'left-out verdicts': leftOutVerdicts() },
    ...Object.entries(WARNINGS).map(warningTables),
  );

function deviationTables() {
  const known = costs().filter(({ seeds }) => seeds > 0);
  return {
    'equal-deviation state': stateOf(results),
    'equal-deviation verdicts': table(
      ['hypothesis', 'verdict', 'what decides', 'seeds', 'mean', '95% interval'],
      verdicts().flatMap(({ hypothesis, verdict, checks }) =>
        checks.map((check, i) => [
          ...(i === 0 ? [`${hypothesis}. ${PREDICTIONS[hypothesis - 1]}`, verdict] : ['', '']),
          ...[check.what, check.runs, shown(check.value, 3), intervalText(check)],
        ]),
      ),
    ),
    'equal-deviation costs': table(
      ['path', 'share of the baseline’s deviation', 'seeds', 'reached', 'cost in nats per byte', '95% interval'],
      known.map((row) => [
        ...[code(row.path), row.share, row.seeds, row.reached],
        ...[shown(row.cost, 3), intervalText(row)],
      ]),
    ),
    'equal-deviation tests': table(
      ['comparison', 'share', 'pairs', 'difference in nats per byte', '95% interval', 'p', 'p (Holm)'],
      tests().map((row) => [
        ...[`${code(row.path)} − ${code(row.against)}`, row.share, row.pairs],
        ...[shown(row.difference, 3), intervalText(row), probability(row.p), probability(row.holm)],
      ]),
    ),
    'equal-deviation methods': table(
      [
        ...['method', 'runs', 'failed', 'cost in nats per byte', '95% interval', 'deviation over the baseline’s'],
        ...['biases’ share of the variance', 'largest share', 'entropy', 'excess logit on oneself'],
      ],
      methods().map((row) => [
        ...[code(row.method), row.runs, row.failures, shown(row.cost, 3), intervalText(row), shown(row.deviation, 2)],
        ...[shown(row.share, 3), shown(row.largest_share, 3)],
        ...['entropy', 'self_excess'].map((measure) => shown(measured(row.method, measure), 2)),
      ]),
    ),
  };
}

const methodOf = (method) => methods().find((row) => row.method === method);
const testOf = (path, against) => tests().find((row) => row.path === path && row.against === against);
const verdictOf = (number) => verdicts().find(({ hypothesis }) => hypothesis === Number(number));
const shareOf = (method) => verdictOf(2).checks.find(({ what }) => what === method);
const costOf = (path, share) => costs().find((row) => row.path === path && row.share === Number(share));

/** What sentences say in words: whether it holds, and what it is. */
const CLAIMS = {
  'plain-dearest': () => {
    const { cost } = costOf('plain-k2', 0.75);
    const others = costs().filter(
      ({ path, share, reached }) => share === 0.75 && reached > 1 && !path.startsWith('plain'),
    );
    return [others.every(({ high }) => high < cost), 'where the plain form has the deviation it costs the most'];
  },
  'null-cheapest': () => {
    const isLeast = (own) =>
      costs().every(
        ({ path, share, low }) => share !== own.share || path === own.path || low === null || own.high < low,
      );
    return [
      costs()
        .filter(({ path }) => path === 'metric-k0')
        .every(isLeast),
      'without a target the penalty in the tokens’ metric is the cheapest at each deviation',
    ];
  },
  'none-gains': () => [
    methods().every(({ method, high }) => method === 'none' || high === null || high >= 0),
    'no method ends below the baseline',
  ],
  bounded: () => {
    const { failed, checks } = verdictOf(1);
    return [failed === 0 && checks.every(({ high }) => high < 0), 'the deviation falls with c and no run fails'];
  },
  'price-rises': () => {
    const [zero, two, four] = ['metric-k0', 'metric-k2', 'metric-k4'].map((path) => costOf(path, 0.75));
    return [zero.high < two.low && two.high < four.low, 'the price rises with the target'];
  },
  'random-no-dearer': () => [
    costOf('random-k2', 0.75).cost <= costOf('frobenius-k2', 0.75).high,
    'a penalty on a random direction costs no more than the Frobenius form',
  ],
  'none-confirmed': () => [
    Object.values(WARNINGS).every((it) => warned(it, 'advantage').every(({ verdict }) => verdict !== 'confirmed')),
    'no alarm is confirmed',
  ],
  'as-by-chance': () => [
    warningOf('ramp', 'hypothesis', 'chosen').null_p > 0.05,
    'the lead of the chosen alarm is that of exchanged trajectories',
  ],
  'too-many-alarms': () => [
    warningOf('ramp', 'hypothesis', 'chosen').false_low > 0.05,
    'the chosen alarm has more than 5% false alarms',
  ],
  'update-entropy-chosen': () => [
    warningOf('ramp', 'hypothesis', 'chosen').signal === 'update_entropy.smallest',
    'the spectral entropy of the update is the chosen signal',
  ],
  'references-silent': () => [
    ['z_score', 'gradient_norm'].every((signal) => warningOf('ramp', 'hypothesis', signal).detected === 0),
    'the z score and the gradient norm detect no failure',
  ],
  'line-before-all': () => {
    const { detected, failing } = warningOf('ramp', 'hypothesis', 'line');
    return [detected === failing, 'the freezing line is crossed before all failures'];
  },
  'silent-on-llama': () => [
    warningOf('ramp', 'hypothesis-llama', 'chosen').lead === 0,
    'the chosen alarm has no median lead on models that were held back',
  ],
  'few-failures': () => {
    const share = (fault, model) => {
      const { runs, failing } = fateRow(WARNINGS.faults, fault, model);
      return failing / runs;
    };
    const survived = ['scale-4', 'scale-16', 'bits-8', 'bits-4', 'random-40', 'beta2-0.9999', 'epsilon'];
    const isSurvived = survived.every((fault) => ['pre', 'post', 'llama'].every((model) => share(fault, model) === 0));
    const isFatal = ['pre', 'llama'].every((model) => share('spike-5', model) === 1);
    return [isSurvived && isFatal, 'a spike of 5 steps makes pre-norm and llama models fail, milder faults none'];
  },
  'post-survives': () => [
    warned(WARNINGS.faults, 'runs').every(({ model, failing }) => model !== 'post' || failing === 0),
    'no post-norm model fails',
  ],
  'threshold-stays-behind': () => [
    warningOf('transfer', 'transfer', 'chosen').false_low > 0.05,
    'the threshold of depth 4 has more than 5% false alarms at depth 8',
  ],
  'entropy-chosen-at-depth-8': () => {
    const { signal, null_p: p } = warningOf('deep', 'hypothesis', 'chosen');
    return [signal === 'entropy.smallest' && p > 0.05, 'depth 8 chooses the entropy, whose lead is as by chance'];
  },
  'text-unannounced': () => [
    ['chosen', 'z_score'].every((signal) => warningOf('ramp', 'reversed', signal).detected === 0),
    'neither the chosen alarm nor the z score announces another text',
  ],
  'residual-tells-change': () => {
    const { own_alarms: alarms, own_healthy: healthy } = warningOf('ramp', 'reversed-40', 'last_residual');
    return [alarms === healthy, 'the residual rings in all runs that recover from another text'];
  },
  'no-lead': () => [
    warned(WARNINGS.faults, 'signal').every(({ group, detected }) => group !== 'hypothesis' || detected === 0),
    'no signal detects a failure after an injected fault',
  ],
};

export const numbers = {
  /** A number of a signal of an experiment on early warning, such as `lead` or `false_alarms`, in a group. */
  'warning-number': (name, group, signal, field, digits = 0) => shown(warningOf(name, group, signal)[field], digits),
  /** What one false alarm is of the runs that do not fail. */
  'warning-granularity': (name, group) => `${shown(100 / warningOf(name, group, 'chosen').healthy, 0)}%`,
  'warning-interval': (...of) => leadText(warningOf(...of)),
  /** How many steps an alarm is earlier than a reference, with its interval and verdict. */
  ...estimated('warning-advantage', advantageOf, 0, 'steps'),
  'warning-verdict': (...of) => advantageOf(...of).verdict,
  /** The least value of a number over the signals of an experiment on early warning. */
  'warning-least': (name, field, digits) => {
    const rows = warned(WARNINGS[name], 'signal').filter(({ group }) => group === 'hypothesis');
    return shown(Math.min(...rows.map((row) => row[field])), digits);
  },
  /** The largest mean loss minus the baseline's of the methods with a strength. */
  'cost-largest': (strength) => {
    const costs = methods().filter(({ method }) => method.endsWith(`-${strength}`));
    return shown(Math.max(...costs.map(({ cost }) => cost)), 3);
  },
  /** Mean loss minus the baseline's of a method. */
  ...estimated('method-cost', methodOf, 3, 'cost'),
  /** A number of a method: `deviation` over the baseline's, `share` or `largest_share` of the biases. */
  'method-number': (method, name, digits = 2) => shown(methodOf(method)[name], digits),
  /** Cost of a path at a share of the baseline's deviation. */
  ...estimated('cost-at', costOf, 3, 'cost'),
  'cost-seeds': (path, share, of = 'reached') => String(costOf(path, share)[of]),
  /** Difference of the costs of two paths at the tested share. */
  ...estimated('cost-difference', testOf, 3, 'difference'),
  /** The biases' share of a method. */
  ...estimated('bias-share-of', shareOf, 3),
  /** Whether the first path costs more than the second, by the interval of the difference. */
  'cost-compared': (path, against) => {
    const { low, high } = testOf(path, against);
    return low > 0 ? 'more' : high < 0 ? 'less' : 'about as much';
  },
  'deviation-verdict': (hypothesis) => verdictOf(hypothesis).verdict,
  claim: (name) => claimed(...CLAIMS[name]()),
  /** The median step at which runs of a fault and model reach the failure level. */
  'warning-reached': (name, fault, model) =>
    String(warned(WARNINGS[name], 'runs').find((row) => row.fault === fault && row.model === model).reached),
};
