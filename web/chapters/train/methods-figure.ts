import { tick } from '../../charts/format';
import { legend, textWidth } from '../../charts/legend';
import { chart, link, ruleX, text } from '../../charts/plot';
import { finiteCell, type Table } from '../../charts/table';
import { BARS } from '../../charts/with-error';
import type { FigureOf } from '../../ui/registry';
import { CellPointer } from './cell-pointer';
import { arranged, HOLLOW, meanMark, referencesText, type Panel } from './panel-parts';
import { PublishedFigure } from './published-figure';
import { partText, referenceCells, REFERENCES, type PublishedResults, type Reference } from './published-results';
import {
  claimText,
  differenceText,
  meansText,
  METHOD_NAMES,
  methodsOf,
  runsText,
  type MethodRow,
  type Tested,
} from './published-rows';

/** Pixels from one method to the next. */
const ROW = 20;
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

/** A published comparison of methods: loss and attention entropy, with standard errors and tests. */
export class MethodsFigure extends PublishedFigure {
  private methods: MethodRow[] = [];
  private found!: PublishedResults;
  private caption = '';
  private readonly pointer = new CellPointer(this.frame.chart, () => {}); // only tells

  /** The caption compares the `claimed` method with the paper's expectations. */
  constructor(
    id: FigureOf<'train'>,
    experiment: string,
    private claimed: string,
  ) {
    super(id, experiment);
  }

  protected take(results: PublishedResults): void {
    const rows = methodsOf(results);
    this.methods = rows;
    this.found = results;
    const claim = claimText(rows, METHOD_NAMES[this.claimed]!);
    const references = referencesText(results.references, 'bits per byte');
    this.caption = `${claim} ${meansText(rows)} ${references}${partText(results)}`;
  }

  protected draw(width: number): void {
    const height = 66 + ROW * this.methods.length;
    const columns = width >= WIDE ? 2 : 1;
    const room = nameRoom(this.methods, width / columns, 0.6);
    const panels = [
      this.panel('final loss, bits per byte', 'loss', [width / columns, height], room),
      this.panel('attention entropy', 'entropy', [width / columns, height], columns > 1 ? 0 : room),
    ];
    const label = `Published comparison of methods. ${this.caption}`;
    const { svg, places } = arranged(panels, { columns, width, height }, legend([HOLLOW], 0, width), label);
    this.pointer.put(places);
    this.frame.put(svg);
    this.frame.say(this.caption);
  }

  protected numbers(): Table {
    const measured = (name: string) => ['', '_error', '_difference', '_p_holm'].map((part) => name + part);
    const cells = ({ mean, error, difference, p }: Tested) => [...[mean, error, difference].map(finiteCell), p];
    return {
      columns: ['method', 'runs', 'failures', ...measured('bits_per_byte'), ...measured('entropy'), ...REFERENCES],
      rows: this.methods.map(({ method, runs, failures, loss, entropy }) => [
        method,
        runs,
        failures,
        ...cells(loss),
        ...cells(entropy),
        ...referenceCells(this.found),
      ]),
    };
  }

  /** Named upright lines at the losses of tables of n-grams, those that the axis has. */
  private referenceLines([low, high]: [number, number]) {
    const loss = (name: Reference) => this.found.references[name];
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

  private panel(title: string, name: 'loss' | 'entropy', [width, height]: [number, number], room: number): Panel {
    const rows = this.methods;
    const at = (row: MethodRow) => rows.indexOf(row);
    const mean = (row: MethodRow) => row[name].mean;
    const reach = (row: MethodRow) => (Number.isFinite(row[name].error) ? BARS * row[name].error : 0);
    const ends = rows.flatMap((row) => [mean(row) - reach(row), mean(row) + reach(row)]);
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    const margin = 0.05 * (high - low || 1);
    const baseline = rows.find(({ method }) => method === METHOD_NAMES.none);
    const drawn = chart({
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
          stroke: 'var(--ink)',
          strokeWidth: 2,
          ariaDescription: 'error bars',
        }),
        meanMark(rows, { x: mean, y: at, r: 4 }, (row) => row[name], 'var(--ink)', 'mean'),
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
    });
    const places = rows.map((row) => ({
      x: drawn.x.apply(mean(row)),
      y: drawn.y.apply(at(row)),
      text:
        `${row.method}, ${runsText(row.runs)}: ${mean(row).toFixed(3)}` +
        (row === baseline ? '' : `, against the baseline ${differenceText(row[name])}`),
      choice: {},
    }));
    return { drawn, places };
  }
}
