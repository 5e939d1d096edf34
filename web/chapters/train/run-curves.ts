import { count, short } from '../../charts/format';
import { legend } from '../../charts/legend';
import { element } from '../../charts/picture';
import { compose, partOf } from '../../charts/plot';
import { finiteCell, type Table } from '../../charts/table';
import { stylesOf, runEntries, type RunStyle } from './run-styles';
import type { RunComparison } from './comparison';
import type { Shown } from './log-rows';
import type { Store } from '../../state/store';
import { Frame } from '../../ui/frame';
import type { Figure } from '../../ui/figure';
import { drawPanel, measuresOf, panelsOf, stepsOf, type Panel } from './run-panels';

/** Where a panel lies in the picture. */
interface Place {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** What is measured of the runs, over their steps. */
export class RunCurvesFigure implements Figure {
  readonly id = 'run-curves';
  readonly inputs = [];
  readonly repaintOn = ['run_spread', 'runs'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  /** The picture, and what it was laid out for; its panels are drawn anew one by one. */
  private picture: { svg: SVGSVGElement; key: string } | null = null;
  private places: Place[] = [];
  private panels: SVGSVGElement[] = [];

  constructor(
    private store: Store,
    private comparison: RunComparison,
  ) {}

  async compute(): Promise<void> {} // the comparison computes, whether or not it is looked at

  *paint() {
    const styles = stylesOf(this.comparison);
    const key = JSON.stringify([this.frame.width, styles.map(({ name }) => name)]);
    if (this.picture?.key !== key) this.layOut(styles, key);
    const text = this.caption(styles);
    this.picture?.svg.setAttribute('aria-label', `Training over the steps. ${text}`);
    this.frame.say(text);
    // One panel a task: all at once would hold up the hand that is using the page.
    for (const [at, panel] of panelsOf(this.store.state.run_spread).entries()) {
      yield;
      this.paintPanel(at, panel, styles);
    }
  }

  table(): Table | null {
    const styles = stylesOf(this.comparison);
    if (styles.every(({ run }) => run.rows.length === 0)) return null;
    const measures = measuresOf(panelsOf(this.store.state.run_spread));
    function* rows(): Generator<(string | number | null)[]> {
      for (const { run } of styles) {
        for (const { step, value } of run.rows) {
          yield [run.kind, step, ...measures.map((name) => finiteCell(value[name]))];
        }
      }
    }
    return { columns: ['run', 'step', ...measures], rows: rows() };
  }

  /** The loss over the whole width, higher where there is room; then the others two in a row. */
  private layOut(styles: RunStyle[], key: string): void {
    const { width } = this.frame;
    const names = legend(runEntries(styles), 0, width);
    const wide = width >= 640;
    let top = names.height + 6;
    this.places = panelsOf(this.store.state.run_spread).map((_, i) => {
      const whole = !wide || i === 0;
      const height = i > 0 ? 190 : wide ? 260 : 200;
      const right = wide && i > 0 && i % 2 === 0;
      const place = { x: right ? width / 2 : 0, y: top, width: whole ? width : width / 2, height };
      if (whole || right) top += height;
      return place;
    });
    this.panels = this.places.map((place) => element('svg', { ...place }));
    const parts = this.panels.map((svg, i) => ({ svg, x: this.places[i].x, y: this.places[i].y }));
    const svg = compose(parts, { width, height: top }, 'Training over the steps');
    svg.append(names.render());
    this.picture = { svg, key };
    this.frame.put(svg);
  }

  private paintPanel(at: number, panel: Panel, styles: RunStyle[]): void {
    const { x, y, width, height } = this.places[at];
    const svg = partOf(drawPanel(panel, styles, stepsOf(styles), { width, height }));
    svg.setAttribute('x', String(x));
    svg.setAttribute('y', String(y));
    svg.dataset.panel = panel.main;
    this.panels[at].replaceWith(svg);
    this.panels[at] = svg;
  }

  private caption(styles: RunStyle[]): string {
    const begun = styles.filter(({ run }) => run.rows.length > 0);
    if (begun.length === 0) return 'Nothing is trained yet: press Play.';
    const texts = [...begun.map((style) => this.runText(style)), differencesOf(styles)];
    return texts.join(' ').trim();
  }

  private runText({ run, name }: RunStyle): string {
    const last = run.rows.at(-1);
    if (!last) return '';
    const of = (measure: Shown) => short(last.value[measure]);
    const numbers =
      `loss ${of('bits_per_byte')} bits per byte, entropy ${of('entropy')}, ` +
      `variance ${of(this.store.state.run_spread)}, localization ${of('localization')}, ` +
      `residual ${of('residual')}`;
    const broken = run.failure ? ` Stopped at ${run.failure}.` : '';
    return `${name}, step ${count(last.step)}: ${numbers}.${broken}`;
  }
}

/** A comparison compares runs that differ in their regularizer alone; a file saved up may bring others. */
function differencesOf(styles: RunStyle[]): string {
  const [first, ...others] = styles.map(({ run }) => run.training);
  const names = (Object.keys(first) as (keyof typeof first)[]).filter(
    (name) => name !== 'regularizer' && others.some((other) => other[name] !== first[name]),
  );
  return names.length > 0 ? `The runs differ in ${names.join(', ')} too.` : '';
}
