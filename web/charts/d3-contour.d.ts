/** What the page uses of d3-contour, which brings no types. */
declare module 'd3-contour' {
  interface Contours {
    size(size: [columns: number, rows: number]): Contours;
    /** Rings around the values that are at least the threshold, in columns and rows, each closed by its first point. */
    contour(values: ArrayLike<number>, threshold: number): { coordinates: [number, number][][][] };
  }
  export function contours(): Contours;
}
