import { count, short } from '../../../charts/format';
import type { Table } from '../../../charts/table';
import { Frame } from '../../../ui/frame';
import { referencesText } from '../experiments/panels';
import { referencesOf, type Shown } from '../runs/log';
import { PanelPicture, drawPanel, measuresOf, panelsOf, stepsOf, tableOf, thinEntry } from '../runs/panels';
import { stylesOf, runEntries, type RunStyle, type ShownRuns } from '../runs/shown';
import type { Figure, Store } from '../state';

/** Pixels of a panel, beside others and above others. */
const HEIGHT = 150;

/** What is measured of the runs, over their steps. */
export class RunCurvesFigure implements Figure {
  readonly id = 'run-curves';
  readonly inputs = [];
  readonly repaintOn = ['spread', 'runs'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private picture = new PanelPicture(this.frame, 3);

  constructor(
    private store: Store,
    private shown: ShownRuns,
  ) {}

  compute(): Promise<void> {
    return this.shown.load(); // the comparison computes, whether or not it is looked at
  }

  *paint() {
    const styles = stylesOf(this.shown.all);
    const panels = panelsOf(this.store.state.spread);
    const heights = panels.map((_, i) => ({ height: HEIGHT, wide: i === 0 }));
    const text = this.caption(styles);
    this.picture.layOut(
      [{ entries: [...runEntries(styles), thinEntry(panels)], panels: heights }],
      `Training over the steps. ${text}`,
    );
    this.frame.say(text);
    for (const [at, panel] of panels.entries()) {
      yield;
      this.picture.put(at, panel.main, (size) => drawPanel(panel, styles, stepsOf(styles), size));
    }
  }

  table(): Table | null {
    return tableOf(stylesOf(this.shown.all), measuresOf(panelsOf(this.store.state.spread)));
  }

  private caption(styles: RunStyle[]): string {
    const texts = styles.map((style) => this.runText(style));
    const last = styles.find(({ run }) => run.rows.length > 0)?.run.rows.at(-1);
    const references = last ? referencesText(referencesOf(last), 'bits per byte') : '';
    return [this.shown.source, ...texts, references, differencesOf(styles)].filter(Boolean).join(' ');
  }

  private runText({ run, name }: RunStyle): string {
    const last = run.rows.at(-1);
    if (!last) return '';
    const of = (measure: Shown) => short(last.value[measure]);
    const numbers =
      `loss ${of('bits_per_byte')} bits per byte, entropy ${of('entropy')}, ` +
      `variance ${of(this.store.state.spread)}, localization ${of('localization')}, ` +
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
