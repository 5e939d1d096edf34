import type { Markish } from '@observablehq/plot';
import { tick } from '../../../charts/format';
import type { Entry } from '../../../charts/legend';
import { parts as colours } from '../../../charts/palette';
import { element } from '../../../charts/picture';
import { chart, gridY, ruleY } from '../../../charts/plot';
import type { Table } from '../../../charts/table';
import { Frame } from '../../../ui/frame';
import { entryOf } from '../../../ui/registry';
import { MARGINS, NARROW, titleMark, type Scale } from '../experiments/panels';
import type { JudgedRun } from '../race/words';
import { LOGIT_PARTS } from '../runs/log';
import { PanelPicture, drawPanel, stepsOf, tableOf, thinEntry, thinned, type Panel } from '../runs/panels';
import { runEntries, stylesOf, type RunStyle, type ShownRuns } from '../runs/shown';
import type { Figure } from '../state';
import { PART_NAMES, pileOf, pilesRange, largestText, logitsText, type Pile } from './words';

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

/** An area at one step. */
type Ends = [step: number, low: number, high: number];

/** The outlines of an area in pixels, one for each stretch without a gap. */
function areaPath(points: Ends[], x: Scale, y: Scale): string {
  let path = '';
  let [there, back] = ['', ''];
  const close = () => {
    if (there) path += `M${there.slice(1)}${back}Z`;
    [there, back] = ['', ''];
  };
  for (const [step, low, high] of points) {
    if (Number.isFinite(low)) {
      there += `L${x(step)},${y(high)}`;
      back = `L${x(step)},${y(low)}${back}`;
    } else close();
  }
  close();
  return path;
}

/** The areas of the parts on one side of zero, as far as there are some; they end with the axis. */
function areasMark(piles: Pile[], side: 'above' | 'below', [least, most]: [number, number]): Markish {
  const clamped = (share: number) => Math.max(least, Math.min(most, share));
  return (_, scales) => {
    const group = element('g', { stroke: 'var(--paper)', 'stroke-width': 0.75 });
    for (const [i, part] of LOGIT_PARTS.entries()) {
      if (!piles.some((pile) => pile[side][i][0] < pile[side][i][1])) continue;
      const ends = piles.map(({ step, [side]: all }): Ends => {
        const [low, high] = all[i].map(clamped);
        return [step, low, high];
      });
      const d = areaPath(ends, scales.x as Scale, scales.y as Scale);
      const look = { fill: colours[i], 'aria-label': `${part}, ${side} zero` };
      group.append(element('path', { d, ...look }));
    }
    return group;
  };
}

/** The shares of one run, piled up over its steps. */
function drawPiles(
  name: string,
  piles: Pile[],
  { steps, domain }: { steps: [number, number]; domain: [number, number] },
  size: { width: number; height: number },
): SVGSVGElement {
  return chart({
    label: name,
    ...size,
    ...MARGINS,
    x: { domain: steps, label: 'step →', labelAnchor: 'center', ticks: size.width < NARROW ? 2 : 5, tickFormat: tick },
    y: { domain, label: null, ticks: 5, tickFormat: (share: number) => `${tick(100 * share)}%` },
    marks: [
      titleMark(size.width < NARROW ? name.replace(' (recorded)', '') : `${name}: shares`),
      areasMark(piles, 'above', domain),
      areasMark(piles, 'below', domain),
      gridY({ ticks: 5, strokeOpacity: 0.08 }),
      ruleY([0], { strokeOpacity: 0.6 }),
    ],
  }).svg;
}
