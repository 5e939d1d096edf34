import { short } from '../../../charts/format';
import { MarkTip } from '../../../charts/mark-tip';
import { MatrixPicture } from '../../../charts/matrix';
import { colourOf, fieldRamp } from '../../../charts/palette';
import { element, type Bitmap } from '../../../charts/picture';
import { partOf, type Chart } from '../../../charts/plot';
import { Panel, matrixOf, pathOf, type HeadMatrix, type Scene } from '../panel';
import { showsAll } from '../state';

/** Widths below this have no room for the name of the vertical axis. */
const NARROW = 240;
/** Pixels of the bars of row entropies, beside the matrix. */
const BAR = 46;

/** Pixels that the names of a head's tokens need. */
const ROOM = 64;

/**
 * One sampled attention matrix; where all is shown, also the entropies of its rows. Or that of a trained head in a
 * sentence.
 */
export class MatrixPanel extends Panel {
  private picture: MatrixPicture;
  private tip: MarkTip;
  private axes: Chart | null = null;
  private entropy: SVGPathElement | null = null;
  private bitmap: Bitmap | null = null;
  /** Right edge of the cells. */
  private right = 0;
  private ofHead: HeadMatrix | null = null;

  constructor(area: HTMLElement) {
    super();
    const cell = (query: number, key: number, weight: number) => {
      const token = (place: number) => this.ofHead?.tokens[place] ?? place + 1;
      return `query ${token(query)} → key ${token(key)}, weight ${short(weight)}`;
    };
    this.picture = new MatrixPicture(area, cell);
    this.tip = new MarkTip(area);
  }

  /** The cells, in pixels of the picture. */
  get cells(): Bitmap[] {
    return this.bitmap ? [this.bitmap] : [];
  }

  protected sources({ point, state, ofHead }: Scene) {
    return [point.head.length, showsAll(state), ofHead];
  }

  protected draw(scene: Scene): SVGSVGElement {
    const { state, ofHead } = scene;
    const { width, height } = this.box;
    const { length } = matrixOf(scene);
    const bar = showsAll(state) && width >= NARROW && !ofHead ? BAR : 0;
    this.ofHead = ofHead;
    const isNamed = ofHead && width >= NARROW;
    const room = isNamed ? { marginLeft: ROOM, marginBottom: ROOM } : { marginLeft: 34, marginBottom: 40 };
    this.axes = this.picture.chart(length, Math.min(width - bar, height), {
      label: ofHead ? `attention weights of ${ofHead.name}` : 'attention weights',
      ...(isNamed && { name: (place: number) => ofHead.tokens[place - 1], room: ROOM }),
      x: ofHead ? `${ofHead.name}: key →` : 'attention: key →',
      y: width < NARROW ? '' : ofHead ? `${ofHead.name}: ↓ query, key →` : '↓ query',
      margin:
        width < NARROW
          ? { marginLeft: 24, marginTop: 8, marginBottom: 36, marginRight: 2 }
          : { ...room, marginTop: 26, marginRight: 4 },
    });
    const { x, y, svg } = this.axes;
    const whole = element('svg', { width, height, 'font-size': 12 });
    whole.append(partOf(svg));
    this.entropy = null;
    if (bar > 0) {
      this.right = x.apply(length + 0.5);
      const [top, bottom] = [y.apply(0.5), y.apply(length + 0.5)];
      const rule = { stroke: 'currentColor', 'stroke-opacity': 0.3, y1: top, y2: bottom };
      this.entropy = element('path', {
        fill: 'none',
        stroke: colourOf('softmax', 'exact'),
        'stroke-width': 1.5,
        'data-mark': 'row entropies',
      });
      const middle = { x: this.across(0.5), y: bottom + 17, 'text-anchor': 'middle' };
      whole.append(
        ...[0, 1].map((at) => element('line', { x1: this.across(at), x2: this.across(at), ...rule })),
        element('text', { fill: 'currentColor', ...middle }, 'entropy'),
        this.entropy,
      );
    }
    return whole;
  }

  protected move(scene: Scene): void {
    const { axes, box } = this;
    const { head } = scene.point;
    if (!axes) return;
    const edge = (row: number) => axes.y.apply(row + 0.5);
    if (this.entropy) {
      const steps = [...head.entropy].flatMap((value, row) =>
        Number.isNaN(value) ? [] : [row, row + 1].map((at) => [this.across(value), edge(at)] as const),
      );
      this.entropy.setAttribute('d', pathOf(steps));
      const shift = (by: number) => ({ apply: (it: number) => it + by });
      const tips = Array.from(head.entropy, (value, row) => ({
        x: this.across(value),
        y: (edge(row) + edge(row + 1)) / 2,
        text: `query ${row + 1}: attention entropy ${short(value)}`,
      }));
      this.tip.place(() => [[tips, { x: shift(box.x), y: shift(box.y) }]]);
    } else this.tip.place(() => []);
    this.bitmap = this.picture.paint(matrixOf(scene), fieldRamp(), Math.sqrt, axes, { top: box.y, left: box.x });
  }

  /** Horizontal place of an entropy in the bars. */
  private across(value: number): number {
    return this.right + 6 + value * (BAR - 12);
  }
}
