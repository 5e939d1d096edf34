import { count, short } from '../../../charts/format';
import { fateColour, type Fate } from '../../../charts/palette';
import { element } from '../../../charts/picture';
import { compose } from '../../../charts/plot';
import type { Table } from '../../../charts/table';
import { inputOf } from '../../../engine/operations';
import type { Output } from '../../../engine/protocol';
import { child } from '../../../ui/dom';
import { Frame, type Shape } from '../../../ui/frame';
import { FATE_NAMES, fateOf } from '../cells/cells';
import { STACK, stackOf, type Figure, type FigureContext, type Store } from '../state';

/** What the tokens do at the end of the stack, in the name of the figure. */
const TITLES: Record<Fate, string> = {
  alive: 'The tokens stay apart',
  rank: 'The tokens merge',
  entropy: 'Each token attends to one key',
  both: 'The tokens merge, and each attends to one key',
};

/** Of the picture. */
const SHAPE: Shape = { share: 1.15, least: 300, most: 470 };
/** Pixels of the two lines of text above the plane, of a dot's radius, and of a halo around a dot. */
const [TOP, DOT, HALO] = [40, 4, 16];
/** Half of the plane's side, in units of the root mean square norm of the tokens, at least. */
const REACH = 2.2;
/** A line leads to the key that has more than this share of a token's attention. */
const STARE = 0.5;
/** Milliseconds of one layer, and of all layers at most. */
const [STEP, MOST] = [800, 4000];
/** Below this residual all dots lie on one, and below the other there are only rounding errors. */
const [MERGED, ROUNDING] = [0.005, 1e-9];

const residualText = (residual: number) => `residual ${residual < ROUNDING ? `below ${ROUNDING}` : short(residual)}`;

const REDUCED = matchMedia('(prefers-reduced-motion: reduce)');

/** The tokens of one stack as dots in a plane, layer after layer. */
export class CollapseTokensFigure implements Figure {
  readonly id = 'collapse-tokens';
  readonly inputs = STACK.filter((name) => name !== 'stacks');
  readonly repaintOn = ['collapse_threshold'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private slider = child<HTMLInputElement>(this.frame.root, '[data-layer]');
  private button = child<HTMLButtonElement>(this.frame.root, '[data-action="play-layers"]');
  private answer: Output<'token-plane'> | null = null;
  /** The layer shown, between two layers while they play; `place` moves the picture to it. */
  private at = 0;
  private place = () => {};
  /** The frame that is asked for while the layers play; 0 at rest. */
  private frameId = 0;
  /** The layers of the newest answer have not been played; they are as soon as the picture is in sight. */
  private isNew = false;
  private inSight = false;

  constructor(private store: Store) {
    new IntersectionObserver((entries) => {
      this.inSight = entries[entries.length - 1].isIntersecting;
      if (this.answer && this.inSight && this.isNew) this.play();
    }).observe(this.frame.chart);
    this.slider.addEventListener('input', () => {
      this.stop();
      this.show(Number(this.slider.value));
    });
    this.button.addEventListener('click', () => (this.frameId ? this.stop() : this.play()));
  }

  async compute(context: FigureContext): Promise<void> {
    const answer = await context.run('token-plane', inputOf('token-plane', { ...stackOf(context.state) }));
    this.answer = answer;
    this.isNew = context.quality === 'full';
    this.stop(); // while a hand moves the spectrum, the end of the stack follows it
    this.at = this.last;
  }

  paint(): void {
    const { answer, frame } = this;
    if (!answer) return;
    const { collapse_threshold: threshold } = this.store.state;
    this.slider.max = String(this.last);
    this.at = Math.min(this.at, this.last);
    const size = { width: frame.width, height: frame.heightInSight(SHAPE, 0) };
    const svg = compose([], size, `${TITLES[this.fateAt(this.last)]}. ${this.caption()}`);
    this.place = this.draw(svg, answer, threshold, size);
    frame.put(svg);
    frame.retitle(TITLES[this.fateAt(this.last)]);
    frame.say(this.caption());
    if (this.isNew && this.inSight) this.play();
    else this.show(this.isNew ? this.last : this.at);
  }

  table(): Table | null {
    const { answer } = this;
    if (!answer) return null;
    const { length } = answer;
    const rows = Array.from(answer.x, (x, i) => [
      answer.layer[Math.floor(i / length)],
      (i % length) + 1,
      ...[x, answer.y[i]].map((value) => (Number.isNaN(value) ? null : value)),
      answer.key[i] || null,
      answer.key[i] ? answer.weight[i] : null,
    ]);
    return { columns: ['layer', 'token', 'x', 'y', 'key', 'weight'], rows };
  }

  private get last(): number {
    return (this.answer?.layer.length ?? 1) - 1;
  }

  private fateAt(layer: number): Fate {
    const { residual, entropy } = this.answer!;
    // The input has no attention.
    const least = layer === 0 ? Infinity : entropy[layer];
    return fateOf(residual[layer], least, this.store.state.collapse_threshold);
  }

  private caption(): string {
    const { residual, entropy, length } = this.answer!;
    if (Number.isNaN(residual[this.last])) return 'The tokens of the last layer overflow.';
    const end = `${residualText(residual[this.last])}, entropy ${short(entropy[this.last])}`;
    return `${count(length)} tokens of one stack after ${count(this.last)} layers: ${end}.`;
  }

  private play(): void {
    this.isNew = false;
    this.stop();
    if (REDUCED.matches || this.last === 0) return this.show(this.last);
    // Once the tokens have merged, nothing moves any more.
    const merged = this.answer!.residual.findIndex((value) => value < MERGED);
    const end = merged < 0 ? this.last : merged;
    const step = Math.min(STEP, MOST / end);
    const start = performance.now();
    const next = (now: number) => {
      const at = Math.max(0, now - start) / step;
      this.show(at < end ? at : this.last);
      if (at >= end) return this.stop();
      this.frameId = requestAnimationFrame(next);
    };
    this.show(0);
    this.button.textContent = 'Pause';
    this.frameId = requestAnimationFrame(next);
  }

  private stop(): void {
    cancelAnimationFrame(this.frameId);
    this.frameId = 0;
    this.button.textContent = 'Play layers';
  }

  private show(at: number): void {
    this.at = at;
    const layer = Math.floor(at);
    this.slider.value = String(layer);
    this.slider.setAttribute('aria-valuetext', layer === 0 ? 'input' : `layer ${layer}`);
    this.place();
  }

  /** Builds the picture; what it returns moves the dots to the present layer. */
  private draw(
    svg: SVGSVGElement,
    { x, y, key, weight, residual, entropy, length }: Output<'token-plane'>,
    threshold: number,
    { width, height }: { width: number; height: number },
  ): () => void {
    const half = Math.min(width, height - TOP) / 2;
    const [left, top] = [width / 2, TOP + half];
    const reach = Math.max(REACH, ...[...x, ...y].map((value) => 1.05 * Math.abs(value) || 0));
    const unit = (half - DOT) / reach;
    const box = { x: left - half, y: top - half, width: 2 * half, height: 2 * half, rx: 6 };
    const back = element('rect', { ...box, 'fill-opacity': 0.45 });
    const ring = element('circle', { cx: left, cy: top, r: threshold * unit, fill: 'none', stroke: 'var(--muted)' });
    ring.setAttribute('stroke-dasharray', '3 3');
    const text = { x: left, 'text-anchor': 'middle', fill: 'currentColor' };
    const [verdict, numbers] = [
      element('text', { ...text, y: 14, 'font-size': 14, 'font-weight': 600 }),
      element('text', { ...text, y: 32, 'font-size': 12 }),
    ];
    const lines = Array.from({ length }, () => element('line', { stroke: 'var(--ink)', 'stroke-linecap': 'round' }));
    const dots = Array.from({ length }, () =>
      element('circle', { r: DOT, fill: 'var(--ink)', stroke: 'var(--paper)', 'stroke-width': 1 }),
    );
    const parts: [string, SVGElement[]][] = [
      ['lines to the key with most weight', lines],
      ['tokens', dots],
    ];
    const groups = parts.map(([name, members]) => {
      const group = element('g', { 'data-mark': name });
      group.append(...members);
      return group;
    });
    svg.append(back, ring, ...groups, verdict, numbers);
    return () => {
      const layer = Math.floor(this.at);
      const share = this.at - layer;
      const next = Math.min(this.last, layer + 1);
      const mixed = (values: Float64Array, i: number) =>
        values[layer * length + i] * (1 - share) + values[next * length + i] * share;
      const places = dots.map((_, i) => [left + unit * mixed(x, i), top - unit * mixed(y, i)]);
      for (const [i, dot] of dots.entries()) {
        const [cx, cy] = places[i];
        const isKnown = Number.isFinite(cx);
        dot.setAttribute('visibility', isKnown ? 'visible' : 'hidden');
        if (isKnown) dot.setAttribute('transform', `translate(${cx.toFixed(1)}, ${cy.toFixed(1)})`);
        const to = key[next * length + i] - 1;
        const seen = weight[next * length + i] > STARE && to >= 0 && isKnown && this.at > 0;
        const line = lines[i];
        line.setAttribute('visibility', seen ? 'visible' : 'hidden');
        if (!seen) continue;
        // A token that attends to itself has a halo in place of a line.
        line.setAttribute('stroke-width', to === i ? String(HALO) : '1');
        line.setAttribute('stroke-opacity', ((to === i ? 0.3 : 0.6) * weight[next * length + i]).toFixed(2));
        const ends = { x1: cx, y1: cy, x2: places[to][0], y2: places[to][1] };
        for (const [name, value] of Object.entries(ends)) line.setAttribute(name, value.toFixed(1));
      }
      const fate = this.fateAt(layer);
      back.setAttribute('fill', fateColour(fate));
      verdict.textContent = layer === 0 ? 'input' : `layer ${layer} of ${this.last}: ${FATE_NAMES[fate]}`;
      const known = [
        `this stack: ${residualText(residual[layer])}`,
        ...(layer > 0 ? [`entropy ${short(entropy[layer])}`] : []),
      ];
      numbers.textContent = known.join(', ');
    };
  }
}
