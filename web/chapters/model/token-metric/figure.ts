import { count, fixed, short, tick } from '../../../charts/format';
import { legend } from '../../../charts/legend';
import { chart, compose, gridX, gridY, shifted, text } from '../../../charts/plot';
import { finiteCell, type Table } from '../../../charts/table';
import type { Predicted } from '../../../engine/protocol';
import { brushed, placeOf } from '../../../heads/brush';
import { HeadPointer, headMarks, modelEntries, type Spot } from '../../../heads/head-dots';
import type { HeadRegistry } from '../../../heads/registry';
import type { Store } from '../state';
import type { Figure } from '../../../ui/figure';
import { Frame } from '../../../ui/frame';
import type { Checkpoints } from '../opening/checkpoints';
import type { HeadMeasurements } from '../reading/measurements';
import { LAWS } from '../predictors/words';

const BOTH = ['bare', 'weighted'] as const;

/** A quantity in two metrics, and the measure that it is expected to order; fields of a prediction. */
const ROWS = [
  { quantity: 'spread', measured: 'entropy', name: 'Frobenius norm', label: 'measured entropy', metrics: BOTH },
  {
    quantity: 'sink_gap',
    measured: 'entropy',
    name: 'sink gap',
    label: 'measured entropy',
    // It needs the means of the tokens.
    metrics: ['weighted', 'mean_field'],
  },
  { quantity: 'trace', measured: 'self_logit', name: 'trace', label: 'measured logit with oneself', metrics: BOTH },
  {
    quantity: 'components',
    measured: 'logit_components',
    name: 'components for 90%',
    label: 'components of the logits',
    metrics: BOTH,
  },
  {
    quantity: 'logit_bound',
    measured: 'largest_logit',
    name: 'bound of the logits',
    label: 'measured largest logit',
    metrics: BOTH,
  },
] as const;
type Row = (typeof ROWS)[number];

type Metric = Row['metrics'][number];
const TITLES = { bare: 'weights only', weighted: 'W weighted by C', mean_field: 'mean-field tokens' };

/** The field of a prediction that has a quantity in a metric; every metric of a row has its quantity. */
const fieldOf = ({ quantity }: Row, metric: Metric) => `${metric}_${quantity}` as 'bare_spread';

/** Pixels of a panel. */
const HEIGHT = 170;
const GAP = 10;
/** Between two rows of panels. */
const ROW_GAP = 12;

/** A head in one of the panels. */
interface PanelSpot extends Spot {
  text: string;
}

/** Quantities of the spectrum of W_QK alone and in the metric of the tokens, against what is measured. */
export class TokenMetricFigure implements Figure {
  readonly id = 'token-metric';
  readonly inputs = [] as const;
  readonly repaintOn = ['brush', 'head'] as const;
  readonly frame = new Frame(this.id, () => this.table());

  private pointer: HeadPointer<PanelSpot>;

  constructor(
    private store: Store,
    heads: HeadRegistry,
    private checkpoints: Checkpoints,
    private measurements: HeadMeasurements,
  ) {
    this.pointer = new HeadPointer(this.frame.chart, heads, store, ({ text }: PanelSpot) => text);
  }

  paint(): void {
    const { predictions } = this.measurements;
    if (!predictions) return this.frame.clear();
    const { width } = this.frame;
    const side = Math.floor((width - GAP) / 2);
    const spots = ROWS.map((row) => row.metrics.map((metric) => this.spots(predictions, row, metric)));
    const key = legend(modelEntries([this.checkpoints.model], spots[0][0]), 48, width - 8, 22);
    const panels = ROWS.flatMap((row, i) =>
      row.metrics.map((metric, k) => ({
        spots: spots[i][k],
        chart: this.panel(row, metric, spots[i][k], side),
        x: k * (side + GAP),
        y: key.height + i * (HEIGHT + ROW_GAP),
      })),
    );
    const size = { width, height: key.height + ROWS.length * (HEIGHT + ROW_GAP) };
    const parts = panels.map(({ chart: { svg }, x, y }) => ({ svg, x, y }));
    const svg = compose(parts, size, `Spectra of heads. ${this.caption()}`);
    svg.append(key.render());
    this.frame.retitle(this.title());
    this.frame.put(svg);
    this.pointer.place(...panels.map((it) => [it.spots, shifted(it.chart, it.x, it.y)] as const));
    this.frame.say(this.caption());
  }

  table(): Table | null {
    const { predictions } = this.measurements;
    if (!predictions) return null;
    const fields = [
      ...ROWS.flatMap((row) => row.metrics.map((metric) => fieldOf(row, metric))),
      ...new Set(ROWS.map(({ measured }) => `measured_${measured}` as const)),
    ];
    const rows = Array.from(predictions.layer, (layer, i) => [
      layer,
      predictions.head[i],
      ...fields.map((field) => finiteCell(predictions[field][i])),
    ]);
    return { columns: ['layer', 'head', ...fields], rows };
  }

  private panel(row: Row, metric: Metric, spots: PanelSpot[], width: number) {
    const { state } = this.store;
    const title = `${TITLES[metric]}: ${this.rank(row, metric)}`;
    return chart({
      label: title,
      width,
      height: HEIGHT,
      marginTop: 44,
      marginLeft: 46,
      marginRight: 12,
      marginBottom: 38,
      x: { tickFormat: tick, ticks: 4, nice: true, labelAnchor: width < 200 ? 'right' : 'center', label: row.name },
      y: { tickFormat: tick, ticks: 4, nice: true, label: metric === row.metrics[0] ? row.label : null },
      marks: [
        gridX({ strokeOpacity: 0.08 }),
        gridY({ strokeOpacity: 0.08 }),
        ...headMarks(spots, state.head, brushed(state)),
        text([title], {
          frameAnchor: 'top-right',
          textAnchor: 'end',
          dy: -16,
          fontSize: width < 200 ? 10 : 12,
          fontWeight: 600,
          ariaDescription: 'title',
        }),
      ],
    });
  }

  private spots(predictions: Predicted, row: Row, metric: Metric): PanelSpot[] {
    const { measured, name, label } = row;
    const heads = new Map(this.checkpoints.model.heads.map((head) => [placeOf(head), head]));
    const [x, y] = [predictions[fieldOf(row, metric)], predictions[`measured_${measured}`]];
    return Array.from(predictions.layer).flatMap((layer, i) => {
      const head = heads.get(placeOf({ stack: '', layer, head: predictions.head[i] }));
      if (!head || !Number.isFinite(x[i]) || !Number.isFinite(y[i])) return [];
      const text = `${TITLES[metric]}: ${name} ${short(x[i])}, ${label} ${short(y[i])}`;
      return [{ head, x: x[i], y: y[i], text }];
    });
  }

  private expectation({ quantity, measured }: Row, metric: Metric) {
    return this.measurements.predictions?.expectations.find(
      (it) => it.metric === metric.replace('_', '-') && it.quantity === quantity && it.measured === measured,
    );
  }

  private rank(row: Row, metric: Metric): string {
    const found = this.expectation(row, metric)?.rank_correlation ?? null;
    return found === null ? 'not compared' : fixed(found, 2);
  }

  /** What the first row shows; the plain title while no text is measured. */
  private title(): string {
    const [alone, weighted] = BOTH.map((metric) => this.rank(ROWS[0], metric));
    const compared = this.expectation(ROWS[0], 'weighted')?.rank_correlation ?? null;
    if (compared === null) return 'Norms of heads alone and in the metric of the tokens';
    return `Rank correlation of the norm with entropy: ${alone} alone, ${weighted} in the metric of the tokens`;
  }

  private caption(): string {
    const { predictions } = this.measurements;
    const { name } = this.checkpoints.model;
    const law = LAWS[this.store.state.tokens_source];
    const pairs = this.expectation(ROWS[0], 'weighted')?.pairs;
    if (!predictions || pairs === undefined) {
      return `${name}: rank correlations follow when a text is measured.`;
    }
    const said = ROWS.map((row) => `${row.name} ${row.metrics.map((it) => this.rank(row, it)).join(' and ')}`);
    return (
      `${count(pairs)} heads of ${name}; C from ${law}. Rank correlations of the left and the right panels: ` +
      `${said.join('; ')}.`
    );
  }
}
