import { short, tick } from '../../charts/format';
import { dashes, series } from '../../charts/palette';
import { chart, dot, gridY, line, link } from '../../charts/plot';
import type { Table } from '../../charts/table';
import { FINAL_LOSS } from './cell-picker';
import { CellsFigure, type CellChoosing } from './cells-figure';
import { escapesOf, sumOf, thresholdOf, type Escape } from './escape-rows';
import { chosenMark, lineLegend, MARGINS, titleMark, trainedMark, type Panel } from './panel-parts';
import { partText, type PublishedResults } from './published-results';
import type { Trials } from './trials';

const HEIGHT = 300;

/** How a run of the experiment on rank collapse is chosen. */
export const ESCAPE_CHOOSING: CellChoosing = {
  names: { depth: { name: 'Depth' }, init_scale: { name: 'Scale s' }, alpha: { name: 'Alpha' } },
  first: { init_scale: '2', alpha: '1' },
  outcome: FINAL_LOSS,
};

/** Share of deep post-norm models that leave the plateau of rank collapse, against alpha. */
export class EscapeFigure extends CellsFigure {
  private points: Escape[] = [];

  constructor(trials: Trials) {
    super('escape', 'rank-escape', ESCAPE_CHOOSING, trials);
  }

  protected read(results: PublishedResults): void {
    this.points = escapesOf(results);
  }

  protected draw(width: number): void {
    const names = lineLegend(
      this.scales().map((scale) => `s = ${tick(scale)}`),
      width,
    );
    const size = { columns: 1, width, height: HEIGHT };
    const title = 'Share of runs that leave the plateau of rank collapse';
    this.put([this.panel(width)], size, names, title, this.caption());
  }

  protected numbers(): Table {
    return {
      columns: ['init_scale', 'alpha', 'runs', 'below', 'share', 'low', 'high'],
      rows: this.points.map((it) => [
        ...[it.scale, it.alpha, it.runs, it.below, it.share, it.low, it.high],
      ]),
    };
  }

  private scales(): number[] {
    return [...new Set(this.points.map(({ scale }) => scale))];
  }

  private panel(width: number): Panel {
    const { points } = this;
    const scales = this.scales();
    // Intervals of several scales stand side by side.
    const place = ({ scale, alpha }: { scale: number; alpha: number }) =>
      alpha + 0.03 * (scales.indexOf(scale) - (scales.length - 1) / 2);
    const { axes } = this.picker.choice;
    const chosen = points.filter(
      ({ scale, alpha }) => String(scale) === axes.init_scale && String(alpha) === axes.alpha,
    );
    const drawn = chart({
      label: 'Share of runs',
      ...{ width, height: HEIGHT, ...MARGINS },
      x: {
        ...{ domain: [-1.1, 1.1], label: 'correlation α of W_Q with W_K at initialization →' },
        ...{ labelAnchor: 'center', ticks: [-1, -0.5, 0, 0.5, 1], tickFormat: tick },
      },
      y: { domain: [0, 1], label: null, ticks: 5, tickFormat: tick },
      marks: [
        gridY({ ticks: 5, strokeOpacity: 0.08 }),
        titleMark('share of runs that leave the plateau'),
        ...scales.flatMap((scale, at) => {
          const own = points.filter((it) => it.scale === scale);
          return [
            line(own, {
              ...{ x: place, y: 'share', stroke: series[at], strokeDasharray: dashes[at] },
              ...{ strokeOpacity: 0.6, ariaDescription: `s = ${tick(scale)}` },
            }),
            link(own, {
              ...{ x1: place, x2: place, y1: 'low', y2: 'high', stroke: series[at] },
              ...{ strokeWidth: 2, ariaDescription: '95% interval' },
            }),
            dot(own, {
              ...{ x: place, y: 'share', r: 4, fill: series[at], ariaDescription: 'share' },
            }),
          ];
        }),
        chosenMark(chosen, { x: place, y: 'share', r: 8 }),
        trainedMark(this.escaped(), { x: place, y: 'share' }),
      ],
    });
    const places = points.map((it) => ({
      ...{ x: drawn.x.apply(place(it)), y: drawn.y.apply(it.share) },
      text: `s = ${tick(it.scale)}, α = ${tick(it.alpha)}: ${it.below} of ${it.runs} runs`,
      choice: { init_scale: String(it.scale), alpha: String(it.alpha) },
    }));
    return { drawn, places };
  }

  /** Runs of this tab: at 1 one that left the plateau, at 0 one that did not. */
  private escaped(): { scale: number; alpha: number; share: number }[] {
    const below = thresholdOf(this.found);
    return this.trained().map(({ training, final }) => ({
      ...{ scale: training.init_scale, alpha: training.alpha },
      share: final.bits_per_byte < below ? 1 : 0,
    }));
  }

  private caption(): string {
    const { found, points } = this;
    const sentences = this.scales().map((scale) => {
      const of = (sign: number) => {
        const own = points.filter((it) => it.scale === scale && Math.sign(it.alpha) === sign);
        return `${sumOf(own, 'below')} of ${sumOf(own, 'runs')}`;
      };
      return (
        `With s = ${tick(scale)}, ${of(1)} runs with a positive mean end below ` +
        `${short(thresholdOf(found))} bits per byte, ${of(0)} with mean 0, ` +
        `${of(-1)} with a negative mean.`
      );
    });
    return sentences.join(' ') + partText(found);
  }
}
