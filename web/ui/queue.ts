/** Draws at once, or in steps: it yields wherever what follows may wait for the next frame. */
export type Drawing = () => void | Generator<unknown, void>;

const waiting = new Set<Drawing>();
/** What is left of the drawing that has begun; it ends before the next one begins. */
let left: Generator<unknown, void> | null = null;
let scheduled = false;

/** Milliseconds of drawing between two frames after which no further step begins. */
const SHARE = 4;

/**
 * Draws soon: as many steps between two frames as fit into their share, so that no task grows long. The picture is
 * built in tasks of its own and shown by the next frame (Frame.put).
 */
export function draw(drawing: Drawing): void {
  waiting.add(drawing);
  if (!scheduled) requestAnimationFrame(next);
  scheduled = true;
}

/** Draws all steps at once. */
export function drawNow(drawing: Drawing): void {
  const steps = drawing();
  while (steps && !steps.next().done);
}

function next(): void {
  setTimeout(() => {
    try {
      const start = performance.now();
      do step();
      while (isLeft() && performance.now() - start < SHARE);
    } finally {
      scheduled = isLeft();
      if (scheduled) requestAnimationFrame(next);
    }
  });
}

const isLeft = () => left !== null || waiting.size > 0;

function step(): void {
  const steps = left ?? begin();
  left = null; // where it fails too
  if (steps && !steps.next().done) left = steps;
}

function begin(): ReturnType<Drawing> {
  const [drawing] = waiting;
  waiting.delete(drawing);
  return drawing();
}
