import { tick } from '../../charts/format';
import { textWidth } from '../../charts/legend';
import { series } from '../../charts/palette';
import { chart, compose, dot, link, ruleX, text } from '../../charts/plot';
import { finiteCell, type Table } from '../../charts/table';
import type { FigureOf } from '../../ui/registry';
import { PublishedFigure } from './published-figure';
import { referencesText } from './panel-parts';
import { partText, REFERENCES, type PublishedResults, type Reference } from './published-results';
import {
  byLoss,
  claimText,
  meansText,
  METHOD_NAMES,
  methodsOf,
  runsText,
  testText,
  type MethodMeasure,
  type MethodRow,
} from './published-rows';

/** Pixels from one method to the next. */
const ROW = 22;
/** Pixels from which loss and entropy stand side by side. */
const WIDE = 540;
/** Pixels that a tick's number needs, and from which an axis has room for its label on both sides. */
const TICK = 45;
const LABELLED = 170;

/** What the rows are called: with the number of runs where it is not the same for all. */
function namesOf(rows: readonly MethodRow[]): string[] {
  const same = rows.every(({ runs }) => runs === rows[0].runs);
  return rows.map(({ method, runs }) => (same ? method : `${method}, ${runsText(runs)}`));
}

/** Pixels for the names of methods, at most `share` of a width. */
function nameRoom(rows: readonly MethodRow[], width: number, share: number): number {
  return Math.min(share * width, 12 + Math.max(0, ...namesOf(rows).map(textWidth)));
}

/** What a published comparison of methods shows, and by which of them its caption judges the paper's claims. */
export interface Compared {
  experiment: string;
  claimed: string;
  /** Where the experiment has several learning rates, the one that is shown, the lowest loss first. */
  rate?: string;
}

/** A published comparison of methods: loss and attention entropy, with standard errors and p values. */
export class MethodsFigure extends PublishedFigure {
  private methods: MethodRow[] = [];
  private references!: PublishedResults['references'];
  private caption = '';

  constructor(
    id: FigureOf<'train'>,
    private compared: Compared,
  ) {
    super(id, compared.experiment);
  }

  protected take(results: PublishedResults): void {
    const { claimed, rate } = this.compared;
    const rows = methodsOf(results, rate);
    this.methods = rate ? byLoss(rows) : rows;
    const claim = claimText(rows, METHOD_NAMES[claimed] ?? claimed);
    this.references = results.references;
    const references = referencesText(results.references, 'bits per byte');
    this.caption = `${claim} ${meansText(rows)} ${references}${partText(results)}`.trim();
  }

  protected draw(width: number): void {
    const height = 66 + ROW * this.methods.length;
    const wide = width >= WIDE;
    const room = nameRoom(this.methods, width, wide ? 0.42 : 0.6);
    const first = wide ? Math.round((width + room) / 2) : width;
    const loss = this.panel('final loss, bits per byte', 'loss', [first, height], room);
    const second = wide ? width - first : width;
    const entropy = this.panel('attention entropy', 'entropy', [second, height], wide ? 0 : room);
    const picture = compose(
      [
        { svg: loss, x: 0, y: 0 },
        { svg: entropy, x: wide ? first : 0, y: wide ? 0 : height },
      ],
      { width, height: wide ? height : 2 * height },
      `Published comparison of methods. ${this.caption}`,
    );
    this.frame.put(picture);
    this.frame.say(this.caption);
  }

  protected numbers(): Table {
    const columns = ({ mean, error, p }: MethodMeasure) => [finiteCell(mean), finiteCell(error), p];
    return {
      columns: [
        'method',
        'runs',
        'failures',
        'bits_per_byte',
        'bits_per_byte_error',
        'bits_per_byte_p',
        'entropy',
        'entropy_error',
        'entropy_p',
      ],
      rows: this.methods.map(({ method, runs, failures, loss, entropy }) => [
        method,
        runs,
        failures,
        ...columns(loss),
        ...columns(entropy),
      ]),
    };
  }

  /** Named upright lines at the losses of tables of n-grams, those that the axis has. */
  private referenceLines([low, high]: [number, number]) {
    const loss = (name: Reference) => this.references[name];
    const shown = REFERENCES.filter((name) => loss(name) >= low && loss(name) <= high);
    return [
      ruleX(shown, { x: loss, stroke: 'var(--muted)', strokeDasharray: '6 3' }),
      text(shown, {
        x: loss,
        text: (name: Reference) => name,
        frameAnchor: 'top' as const,
        dy: -8,
        fontSize: 10,
        fill: 'var(--muted)',
        ariaDescription: 'which n-grams',
      }),
    ];
  }

  private panel(
    title: string,
    name: 'loss' | 'entropy',
    [width, height]: [number, number],
    room: number,
  ): SVGSVGElement {
    const rows = this.methods;
    const at = (row: MethodRow) => rows.indexOf(row);
    const mean = (row: MethodRow) => row[name].mean;
    const reach = (row: MethodRow) => (Number.isFinite(row[name].error) ? row[name].error : 0);
    const ends = rows.flatMap((row) => [mean(row) - reach(row), mean(row) + reach(row)]);
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    const margin = 0.05 * (high - low || 1);
    const baseline = rows.find(({ method }) => method === METHOD_NAMES.none);
    const pOf = (row: MethodRow) => {
      const { p } = row[name];
      return p && testText(p);
    };
    // The p value stands on the side with more room.
    const side = (left: boolean) => ({
      x: mean,
      y: at,
      text: pOf,
      dy: -9,
      dx: left ? 5 : -5,
      fontSize: 10,
      textAnchor: left ? ('start' as const) : ('end' as const),
      fillOpacity: 0.75,
      ariaDescription: 'p value',
    });
    const isLeft = (row: MethodRow) => mean(row) < (low + high) / 2;
    return chart({
      label: title,
      width,
      height,
      marginRight: 14,
      marginTop: 28,
      marginBottom: 38,
      marginLeft: room || 14,
      x: {
        domain: [low - margin, high + margin],
        label: `${title} →`,
        labelAnchor: width - room < LABELLED ? ('right' as const) : ('center' as const),
        ticks: Math.min(4, Math.floor((width - room) / TICK)),
        tickFormat: tick,
      },
      y: { domain: [rows.length - 0.5, -0.7], axis: null },
      marks: [
        ...(name === 'loss' ? this.referenceLines([low - margin, high + margin]) : []),
        ...(baseline ? [ruleX([mean(baseline)], { strokeOpacity: 0.3, strokeDasharray: '2 3' })] : []),
        link(rows.filter(reach), {
          x1: (row: MethodRow) => mean(row) - reach(row),
          y1: at,
          y2: at,
          x2: (row: MethodRow) => mean(row) + reach(row),
          stroke: series[0],
          strokeWidth: 2,
          ariaDescription: 'standard error',
        }),
        dot(rows, { x: mean, y: at, r: 4, fill: series[0], ariaDescription: 'mean' }),
        text(
          rows.filter((row) => pOf(row) && isLeft(row)),
          side(true),
        ),
        text(
          rows.filter((row) => pOf(row) && !isLeft(row)),
          side(false),
        ),
        ...(room > 0
          ? [
              text(rows, {
                text: namesOf(rows),
                y: at,
                frameAnchor: 'left' as const,
                dx: -8,
                textAnchor: 'end' as const,
                ariaDescription: 'method',
              }),
            ]
          : []),
      ],
    }).svg;
  }
}
