import type { Entry } from '../../charts/legend';
import { parts as colours } from '../../charts/palette';
import type { Table } from '../../charts/table';
import { Frame } from '../../ui/frame';
import { entryOf } from '../../ui/registry';
import type { JudgedRun } from './comparison-text';
import { LOGIT_PARTS } from './log-rows';
import { PART_NAMES, pileOf, pilesRange } from './logit-parts';
import { largestText, logitsText } from './logits-text';
import { PanelPicture } from './panel-picture';
import { drawPanel, stepsOf, tableOf, thinEntry, thinned, type Panel } from './run-panels';
import { drawPiles } from './piles-panel';
import { runEntries, stylesOf, type RunStyle } from './run-styles';
import type { ShownRuns } from './shown-runs';
import type { Figure } from './state';

/** Of every panel, in pixels. */
const HEIGHT = 190;

/** What all runs have a line of. */
const PANELS: Panel[] = [
  {
    title: 'variance of the logits',
    main: 'logit_variance',
    log: true,
    least: [Infinity, -Infinity],
    most: [-Infinity, Infinity],
  },
  {
    title: 'self-mass',
    main: 'self_mass',
    thin: { of: 'self_reference', name: 'self-mass reference' },
    least: [0, 0.1],
    most: [-Infinity, Infinity],
  },
];

const PARTS: Entry[] = LOGIT_PARTS.map((part, i) => ({
  text: PART_NAMES[part],
  kind: 'strip' as const,
  colours: [colours[i]],
}));

/** What the logits of each run vary by, over its steps: what a regularizer of W_QK holds, and what not. */
export class RunLogitsFigure implements Figure {
  readonly id = 'run-logits';
  readonly inputs = [];
  readonly repaintOn = ['runs'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private picture = new PanelPicture(this.frame, 2);

  constructor(private shown: ShownRuns) {}

  compute(): Promise<void> {
    return this.shown.load(); // the comparison computes, whether or not it is looked at
  }

  *paint() {
    const styles = stylesOf(this.shown.all);
    this.frame.retitle(largestText(judged(styles)[0]) || entryOf(this.id).title);
    const text = this.caption(styles);
    const blocks = [
      { entries: [...runEntries(styles), thinEntry(PANELS)], panels: PANELS.map(() => ({ height: HEIGHT })) },
      { entries: PARTS, panels: styles.map(() => ({ height: HEIGHT })) },
    ];
    this.picture.layOut(blocks, `The logits over the steps. ${text}`);
    this.frame.say(text);
    const steps = stepsOf(styles);
    for (const [at, panel] of PANELS.entries()) {
      yield;
      this.picture.put(at, panel.main, (size) => drawPanel(panel, styles, steps, size));
    }
    const piles = styles.map(({ run }) => thinned(run.rows).map(pileOf));
    const domain = pilesRange(piles.flat());
    for (const [at, { name, run }] of styles.entries()) {
      yield;
      this.picture.put(PANELS.length + at, run.kind, (size) => drawPiles(name, piles[at], { steps, domain }, size));
    }
  }

  table(): Table | null {
    return tableOf(stylesOf(this.shown.all), [
      'logit_variance' as const,
      ...LOGIT_PARTS,
      'self_mass' as const,
      'self_reference',
    ]);
  }

  private caption(styles: RunStyle[]): string {
    const told = judged(styles);
    const baseline = told.find(({ kind }) => kind === 'none');
    return [this.shown.source, ...told.map((run) => logitsText(run, baseline))].filter(Boolean).join(' ');
  }
}

/** The runs as sentences on them see them. */
function judged(styles: readonly RunStyle[]): JudgedRun[] {
  return styles.map(({ name, run: { kind, rows } }) => ({ kind, name, rows }));
}
