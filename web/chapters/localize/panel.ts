// What the panels of the first screen have in common.

/** The place of a panel in the picture, in pixels. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A path of straight lines through points, in tenths of pixels. */
export function pathOf(points: readonly (readonly [x: number, y: number])[]): string {
  return points.map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${x.toFixed(1)},${y.toFixed(1)}`).join('');
}

/** The panels, from left to right. */
export const PANELS = ['spectrum', 'attention', 'plot'] as const;
export type PanelName = (typeof PANELS)[number];

/** Where the panels stand, and how high the picture is. */
export interface Layout extends Record<PanelName, Box> {
  width: number;
  height: number;
}

/** Whether two pictures of these layouts have their panels at the same places. */
export function isSameLayout(a: Layout, b: Layout): boolean {
  return a.width === b.width && a.height === b.height;
}

/** Below this width the first two panels stand side by side above the third. */
const NARROW = 720;
/** Height on a narrow screen: of the first two panels, and of the third. */
const UPPER = 212;
const LOWER = 288;
/** Share of the width that the third panel has; the other two have equal parts of the rest. */
const SHARE = 0.41;
const GAP = 18;

/** Places the panels: three in a row, or two above one on a narrow screen. `height` is that of a row. */
export function layoutOf(width: number, height: number): Layout {
  if (width < NARROW) {
    const half = Math.floor((width - 8) / 2);
    return {
      spectrum: { x: 0, y: 0, width: half, height: UPPER },
      attention: { x: width - half, y: 0, width: half, height: UPPER },
      plot: { x: 0, y: UPPER, width, height: LOWER },
      width,
      height: UPPER + LOWER,
    };
  }
  const third = Math.round(width * SHARE);
  const rest = width - third - 2 * GAP;
  const second = Math.min(Math.round(rest * 0.54), height - 50);
  return {
    spectrum: { x: 0, y: 0, width: rest - second, height },
    attention: { x: rest - second + GAP, y: 0, width: second, height },
    plot: { x: width - third, y: 0, width: third, height },
    width,
    height,
  };
}
