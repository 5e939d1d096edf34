// A small chart of curves with a title and a legend, of which a figure has several.
import type { Markish } from '@observablehq/plot';
import { decade, short, tick } from '../../charts/format';
import { legend, type Entry } from '../../charts/legend';
import type { Mark } from '../../charts/mark-tip';
import { chart, compose, gridX, gridY, line, ruleY, shifted, text, type Chart } from '../../charts/plot';

/** Pixels of a panel without its legend, and between two. */
const HEIGHT = 210;
const GAP = 14;
/** Pixels of a picture whose panels stand side by side. */
const WIDE = 560;
/** Pixels left of the axis, above the legend and below it. */
const LEFT = 50;
const TITLE = 20;
const BELOW = 16;

/** A curve over the values of the panel's x, by the name in its legend or tips. */
export interface Curve {
  name: string;
  y: ArrayLike<number>;
  colour: string;
  dash?: string;
  width?: number;
  opacity?: number;
}

export interface PanelOptions {
  title: string;
  entries: Entry[];
  x: { label: string; values: readonly number[]; ticks?: readonly number[]; log?: true; say(value: number): string };
  /** `name` in tips; the title names the axis. */
  y: { name: string; log?: boolean };
  curves: readonly Curve[];
  /** What is drawn beside the curves. */
  marks?: readonly Markish[];
}

/** A panel in its picture, with the points that a pointer finds. */
export interface Panel {
  chart: Chart;
  points: Mark[];
}

/** Panels in one picture: two in a row where there are as many and room. */
export function panels(options: readonly PanelOptions[], width: number, label: string) {
  const columns = width < WIDE ? 1 : Math.min(2, options.length);
  const own = Math.floor((width - (columns - 1) * GAP) / columns);
  const keys = options.map(({ entries }) => legend(entries, LEFT, own - 8, TITLE));
  const top = Math.max(...keys.map((it) => it.height));
  const height = HEIGHT + top;
  const drawn = options.map((it, i) => draw(it, keys[i], { width: own, height, top }));
  const places = drawn.map((_, i) => ({ x: (i % columns) * (own + GAP), y: Math.floor(i / columns) * (height + GAP) }));
  const rows = Math.ceil(drawn.length / columns);
  const svg = compose(
    drawn.map((it, i) => ({ svg: it.svg, ...places[i] })),
    { width, height: rows * (height + GAP) - GAP },
    label,
  );
  const placed = drawn.map((it, i): Panel => ({
    chart: shifted(it, places[i].x, places[i].y),
    points: pointsOf(options[i]),
  }));
  return { svg, panels: placed };
}

function draw(
  { title, x, y, curves, marks = [] }: PanelOptions,
  key: ReturnType<typeof legend>,
  { width, height, top }: { width: number; height: number; top: number },
): Chart {
  return chart({
    label: title,
    width,
    height,
    marginTop: top + BELOW,
    marginLeft: LEFT,
    marginRight: 20,
    marginBottom: 38,
    x: {
      type: x.log ? 'log' : 'linear',
      domain: [x.values[0], x.values[x.values.length - 1]],
      label: x.label,
      labelAnchor: 'center',
      ticks: x.ticks ?? 4,
      tickFormat: x.log ? decade : tick,
    },
    y: { type: y.log ? 'log' : 'linear', label: null, ticks: 4, tickFormat: y.log ? decade : tick, nice: true },
    marks: [
      () => key.render(),
      gridX({ strokeOpacity: 0.08, ...(x.ticks && { ticks: x.ticks }) }),
      gridY({ strokeOpacity: 0.08 }),
      ...(y.log ? [] : [ruleY([0], { strokeOpacity: 0.35 })]),
      ...curves.map((curve) =>
        line(
          x.values.map((it, i) => [it, curve.y[i]]),
          {
            stroke: curve.colour,
            strokeWidth: curve.width ?? 2,
            strokeOpacity: curve.opacity ?? 1,
            strokeDasharray: curve.dash,
            ariaDescription: curve.name,
          },
        ),
      ),
      ...marks,
      text([title], {
        frameAnchor: 'top-left',
        dx: 4 - LEFT,
        dy: -(top + BELOW - 4),
        fontWeight: 600,
        ariaDescription: 'title',
      }),
    ],
  });
}

function pointsOf({ curves, x, y }: PanelOptions): Mark[] {
  return curves.flatMap((curve) =>
    x.values.map((it, i) => ({
      x: it,
      y: curve.y[i],
      text: `${curve.name}, ${x.say(it)}: ${y.name} ${short(curve.y[i])}`,
    })),
  );
}
