import { count, short } from '../../../charts/format';
import { layerColour } from '../../../charts/palette';
import type { Table } from '../../../charts/table';
import { brushed, placeOf } from '../../../heads/brush';
import { nameOf, type HeadRegistry, type PlacedHead } from '../../../heads/registry';
import { Frame } from '../../../ui/frame';
import { HeadGrid } from '../grid';
import type { Checkpoints } from '../opening/checkpoints';
import type { Figure, Store } from '../state';

/** The share of heads whose eigenvalues all fit where one scale is for all. */
const FITTING = 0.9;

/** The spectra of all heads, small, by layer and head. */
export class HeadSpectraFigure implements Figure {
  readonly id = 'head-spectra';
  readonly inputs = [] as const;
  readonly repaintOn = ['zoom', 'brush', 'head'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private grid: HeadGrid;

  constructor(
    private store: Store,
    registry: HeadRegistry,
    private checkpoints: Checkpoints,
  ) {
    this.grid = new HeadGrid(this.frame, store, registry, checkpoints, {
      label: 'Every head’s eigenvalues',
      tip: (head) => [`${nameOf(head)}: mean ${short(head.mean)}, largest modulus ${short(reachOf(head))}`],
    });
  }

  paint(): void {
    const { brush, zoom } = this.store.state;
    const { model } = this.checkpoints;
    const chosen = brushed(this.store.state);
    const common = this.commonReach();
    const seen = [brush, zoom, layerColour(0, 2)];
    const { svg, bitmap } = this.grid.picture(this.caption(), 0, seen, (context, corner, cell) => {
      for (const head of model.heads) {
        const reach = zoom === 'own' ? reachOf(head) || 1 : common;
        context.globalAlpha = chosen.size === 0 || chosen.has(placeOf(head)) ? 1 : 0.25;
        context.fillStyle = layerColour(head.layer, model.layers);
        drawSpectrum(context, head.eigenvalues, ...corner(head), cell, reach);
      }
    });
    this.frame.retitle(this.title());
    this.frame.put(svg, [bitmap]);
    this.frame.say(this.caption());
  }

  table(): Table | null {
    const { heads, stacks: names } = this.checkpoints.model;
    const stacks = names.length > 1;
    function* rows(): Generator<(number | string)[]> {
      for (const { stack, layer, head, eigenvalues } of heads) {
        for (let i = 0; i < eigenvalues.length; i += 2) {
          yield [...(stacks ? [stack] : []), layer, head, eigenvalues[i], eigenvalues[i + 1]];
        }
      }
    }
    const columns = [...(stacks ? ['stack'] : []), 'layer', 'head', 're', 'im'];
    return { columns, rows: rows() };
  }

  private commonReach(): number {
    const reaches = this.checkpoints.model.heads.map(reachOf).sort((a, b) => a - b);
    return reaches[Math.ceil(FITTING * reaches.length) - 1] || 1;
  }

  private title(): string {
    const imaginary = this.checkpoints.model.heads.flatMap(({ eigenvalues }) =>
      Array.from(eigenvalues.filter((_, at) => at % 2 === 1)),
    );
    const complex = imaginary.filter((part) => part !== 0).length;
    return `${Math.round((100 * complex) / imaginary.length)}% of the heads’ non-zero eigenvalues are complex`;
  }

  private caption(): string {
    const { model } = this.checkpoints;
    const scale =
      this.store.state.zoom === 'own'
        ? 'The axes of each square end at its largest eigenvalue.'
        : `The axes of each square end at ±${short(this.commonReach())}; larger eigenvalues are drawn on the edge.`;
    return `${model.name}: ${model.rows.length} layers (rows), ${count(model.heads.length)} heads. ${scale}`;
  }
}

/** The largest real or imaginary part. */
function reachOf({ eigenvalues }: PlacedHead): number {
  return eigenvalues.reduce((most, part) => Math.max(most, Math.abs(part)), 0);
}

function drawSpectrum(
  context: CanvasRenderingContext2D,
  eigenvalues: Float64Array,
  left: number,
  top: number,
  cell: number,
  reach: number,
): void {
  const half = cell / 2 - 3;
  const alpha = context.globalAlpha;
  context.globalAlpha = 0.18 * alpha; // the axes
  context.fillRect(left + 2, top + cell / 2, cell - 4, 1);
  context.fillRect(left + cell / 2, top + 2, 1, cell - 4);
  context.globalAlpha = alpha;
  const size = cell > 36 ? 2.4 : 1.6;
  const inside = (part: number) => half * Math.min(1, Math.max(-1, part / reach));
  for (let i = 0; i < eigenvalues.length; i += 2) {
    const x = left + cell / 2 + inside(eigenvalues[i]);
    const y = top + cell / 2 - inside(eigenvalues[i + 1]);
    context.fillRect(x - size / 2, y - size / 2, size, size);
  }
}
