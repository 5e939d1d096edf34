// Times the calls of bench.cpp in WASM and prints "name seconds" lines. Each call returns to the event loop, as
// the page's worker does: inside one long call V8 would stay in its baseline code.
import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers/promises';

const bench = createRequire(import.meta.url)(process.argv[2]);
/** The fastest of as many calls as fill this many seconds, after as many to warm up. */
const SECONDS = 0.35;

async function fastest(row) {
  let least = Infinity;
  for (const start = performance.now(); performance.now() - start < 1000 * SECONDS;) {
    least = Math.min(least, bench._bench_seconds(row));
    await setImmediate();
  }
  return least;
}

for (let row = 0; row < bench._bench_rows(); row++) {
  await fastest(row);
  console.log(bench.UTF8ToString(bench._bench_name(row)), await fastest(row));
}
