import { count } from '../../../charts/format';
import { legend, type Entry } from '../../../charts/legend';
import { colourOf } from '../../../charts/palette';
import { element } from '../../../charts/picture';
import { finiteCell, type Table } from '../../../charts/table';
import { brushed, placeOf, placesIn } from '../../../heads/brush';
import { placeName, type HeadRegistry, type PlacedHead } from '../../../heads/registry';
import { html } from '../../../ui/dom';
import { Frame } from '../../../ui/frame';
import { entryOf } from '../../../ui/registry';
import { KINDS, tokensOf, type KindName, type Pattern } from '../patterns/patterns';
import { briefOf } from '../patterns/words';
import { HeadGrid } from '../grid';
import type { Checkpoints } from '../opening/checkpoints';
import { rowOf, type HeadMeasurements } from '../reading/measurements';
import type { Figure, FigureContext, State, Store } from '../state';
import type { HeadWorth } from './worth';

/** Of a head without a pattern. */
const PLAIN = 'var(--muted)';

/** Pixels of a matrix in the tip. */
const LARGE = 168;

/** The attention of all heads on the typed text, small, in the colour of their pattern. */
export class WallFigure implements Figure {
  readonly id = 'wall';
  readonly inputs = ['reading', 'ablate', 'ablation', 'ablation_level'] as const;
  readonly repaintOn = ['head', 'brush'] as const;
  readonly background = true;
  readonly frame = new Frame(this.id, () => this.table());
  private grid: HeadGrid;
  /** A matrix as a picture, one pixel a weight. */
  private cells = document.createElement('canvas');
  private image: ImageData | null = null;

  constructor(
    private store: Store,
    registry: HeadRegistry,
    private checkpoints: Checkpoints,
    private measurements: HeadMeasurements,
    private worth: HeadWorth,
  ) {
    this.grid = new HeadGrid(this.frame, store, registry, checkpoints, {
      label: 'Attention of every head',
      tip: (head) => this.enlarged(head),
      mark: (head, side) => (placesIn(store.state.ablate).has(placeOf(head)) ? crossed(side) : null),
    });
  }

  shownInputs(): Partial<State> {
    return { reading: this.measurements.reading };
  }

  compute(context: FigureContext): Promise<void> {
    return this.worth.compute(context);
  }

  paint(): void {
    const { frame, measurements } = this;
    const { text } = measurements;
    if (!text || text.patch_side > 0) return frame.clear();
    const { heads } = this.checkpoints.model;
    const patterns = new Map(heads.map((head) => [head.id, measurements.patternOf(head)]));
    const kinds = [...new Set([...patterns.values()].map((it) => it?.kind))];
    const entries = entriesOf(kinds);
    const key = legend(entries, 0, frame.width);
    const chosen = brushed(this.store.state);
    const colours = new Map(entries.map(({ colours: [css] }) => [css, this.resolved(css)]));
    const seen = [text, this.store.state.brush, [...colours.values()].join()];
    const { svg, bitmap } = this.grid.picture(this.caption(), key.height, seen, (context, corner, cell) => {
      for (const head of heads) {
        context.globalAlpha = chosen.size === 0 || chosen.has(placeOf(head)) ? 1 : 0.2;
        const colour = colours.get(headColour(patterns.get(head.id)));
        const picture = colour && this.matrix(head, colour);
        context.imageSmoothingEnabled = this.cells.width > cell;
        const [x, y] = corner(head);
        if (picture) context.drawImage(picture, x + 2, y + 2, cell - 4, cell - 4);
      }
    });
    svg.prepend(key.render());
    frame.retitle(this.title([...patterns.values()]));
    frame.put(svg, [bitmap]);
    frame.say(this.caption());
  }

  table(): Table | null {
    const { measurements } = this;
    if (!measurements.text) return null;
    const rows = this.checkpoints.model.heads.map((head) => {
      const pattern = measurements.patternOf(head);
      const worth = measurements.worthOf(head);
      const numbers = [pattern?.share, pattern?.uniform, worth?.loss_change, worth?.output_change];
      return [head.layer, head.head, pattern?.kind ?? '', ...numbers.map((it) => finiteCell(it ?? NaN))];
    });
    return { columns: ['layer', 'head', 'pattern', 'share', 'uniform', 'loss_change', 'output_change'], rows };
  }

  /** The attention weights of a head as opacity of a colour; null where they are not known. */
  private matrix(head: PlacedHead, [red, green, blue]: readonly number[]): HTMLCanvasElement | null {
    const values = this.measurements.weightsOf(head);
    if (!values) return null;
    const side = Math.sqrt(values.length);
    const { cells } = this;
    // One image for all heads of a text: with each its own, a thousand would be garbage at once.
    if (this.image?.width !== side) {
      cells.width = cells.height = side;
      this.image = new ImageData(side, side);
    }
    const pixels = new Uint32Array(this.image.data.buffer);
    const colour = red | (green << 8) | (blue << 16);
    values.forEach((weight, i) => (pixels[i] = colour | ((255 * Math.sqrt(weight)) << 24)));
    cells.getContext('2d')?.putImageData(this.image, 0, 0);
    return cells;
  }

  /** A colour of the style sheet as red, green and blue. */
  private resolved(css: string): number[] {
    const probe = html('span', {});
    probe.style.color = css;
    this.frame.chart.append(probe);
    const numbers = getComputedStyle(probe).color.match(/[\d.]+/g) ?? [];
    probe.remove();
    return numbers.map(Number);
  }

  private enlarged(head: PlacedHead): (Node | string)[] {
    const { measurements } = this;
    const pattern = measurements.patternOf(head);
    const picture = this.matrix(head, this.resolved(headColour(pattern)));
    const row = measurements.text ? rowOf(head, measurements.text.heads) : undefined;
    const share = pattern ? ` ${Math.round(100 * pattern.share)}%` : '';
    const text = `${placeName(head)}: ${row ? briefOf(row.entropy, pattern) : 'not computed yet'}${share}`;
    if (!picture) return [text];
    const large = html('canvas', { className: 'wall-large', width: picture.width, height: picture.height });
    large.getContext('2d')?.drawImage(picture, 0, 0);
    large.style.width = large.style.height = `${LARGE}px`;
    return [large, html('span', { textContent: text })];
  }

  private title(patterns: readonly (Pattern | null)[]): string {
    const known = patterns.filter((it) => it !== null);
    if (known.length === 0) return entryOf(this.id).title;
    const counts = (Object.keys(KINDS) as KindName[]).map((kind) => ({
      kind,
      count: known.filter((it) => it.kind === kind).length,
    }));
    const [most] = counts.sort((a, b) => b.count - a.count);
    return `${count(known.length)} of ${count(patterns.length)} heads attend to one kind of key, ${count(most.count)} to ${KINDS[most.kind].keys}`;
  }

  private caption(): string {
    const { text } = this.measurements;
    const { model } = this.checkpoints;
    const length = text ? tokensOf(text).length : 0;
    return `${model.name}: ${model.rows.length} layers (rows), ${count(model.heads.length)} heads, on ${length} tokens.`;
  }
}

const headColour = (pattern: Pattern | null | undefined) => (pattern ? colourOf('pattern', pattern.kind) : PLAIN);

/** One entry for each colour of these kinds. */
function entriesOf(kinds: readonly (KindName | undefined)[]): Entry[] {
  const present = (Object.keys(KINDS) as KindName[]).filter((kind) => kinds.includes(kind));
  const colours = [...new Set(present.map((kind) => colourOf('pattern', kind)))];
  const named = colours.map((colour): Entry => {
    const text = present.filter((kind) => colourOf('pattern', kind) === colour).map((kind) => KINDS[kind].brief);
    return { text: text.join(' or '), kind: 'strip', colours: [colour] };
  });
  const plain: Entry = { text: 'no single pattern', kind: 'strip', colours: [PLAIN] };
  return kinds.includes(undefined) ? [...named, plain] : named;
}

/** Two lines over a head that is switched off. */
function crossed(side: number): SVGElement {
  const d = `M3,3L${side - 3},${side - 3}M${side - 3},3L3,${side - 3}`;
  return element('path', { d, stroke: 'var(--problem)', 'stroke-width': 2 });
}
