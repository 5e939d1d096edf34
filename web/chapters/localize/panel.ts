// What the panels of the first figure have in common.
import type { Matrix } from '../../charts/matrix';
import { setAll } from '../../charts/picture';
import { partOf } from '../../charts/plot';
import type { Simulated } from '../../engine/protocol';
import type { Curves, Point } from './answers';
import type { State } from './state';

/** The place of a panel in the picture, in pixels. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The measured attention matrix of a trained head in a sentence. */
export interface HeadMatrix {
  /** Layer and head, in words. */
  name: string;
  sentence: string;
  tokens: readonly string[];
  /** Weights, one query after the other. */
  values: Float32Array;
}

/** What the panels show. */
export interface Scene {
  state: Readonly<State>;
  point: Point;
  curves: Curves;
  /** Simulated keys of the point, where they are known. */
  keys: Simulated | null;
  /** Stands in the place of the random matrix. */
  ofHead: HeadMatrix | null;
  /** A control is moved: its field shows the next value already, so the picture leaves out the numbers that it shows. */
  isMoving: boolean;
}

/** The matrix that is shown: that of a trained head, or the random one. */
export function matrixOf({ ofHead, point: { head } }: Pick<Scene, 'ofHead' | 'point'>): Matrix {
  return ofHead
    ? { length: ofHead.tokens.length, values: ofHead.values }
    : { length: head.length, values: head.weights };
}

/** A panel: its axes are drawn anew when what they depend on changes, and marks are moved on them. */
export abstract class Panel {
  protected box: Box = { x: 0, y: 0, width: 0, height: 0 };
  private drawn: { from: readonly unknown[]; svg: SVGSVGElement } | null = null;

  /** Draws or moves the panel; returns its picture, the same one until its axes change. */
  paint(scene: Scene, box: Box): SVGSVGElement {
    const { theme } = document.documentElement.dataset;
    const from = [theme, box.x, box.y, box.width, box.height, ...this.sources(scene)];
    if (!this.drawn || from.some((it, i) => it !== this.drawn?.from[i])) {
      this.box = box;
      const svg = partOf(this.draw(scene));
      setAll(svg, { x: box.x, y: box.y });
      this.drawn = { from, svg };
    }
    this.move(scene);
    return this.drawn.svg;
  }

  /** Draws the axes anew the next time. */
  forget(): void {
    this.drawn = null;
  }

  /** What the axes depend on beside their place and the colours; compared by identity. */
  protected abstract sources(scene: Scene): unknown[];
  /** Draws axes, and marks that `move` places, into the box. */
  protected abstract draw(scene: Scene): SVGSVGElement;
  /** Moves what follows the point. */
  protected abstract move(scene: Scene): void;
}

/** A path of straight lines through points, in tenths of pixels. */
export function pathOf(points: readonly (readonly [x: number, y: number])[]): string {
  return points.map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${x.toFixed(1)},${y.toFixed(1)}`).join('');
}
