// One worker of the benchmark: makes an instance, says so, then simulates once for each message.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';

const { root, seed } = workerData;
const create = createRequire(import.meta.url)(`${root}build/wasm/engine.js`);
const native = await create({ wasmBinary: readFileSync(`${root}build/wasm/engine.wasm`) });

function simulate(samples) {
  const job = native.createJob('simulate', {
    mean: 0.25,
    variance: 0.5,
    width: 64,
    head_width: 32,
    length: 64,
    temperature: 8,
    tokens: 'random-walk',
    correlation: 0,
    ensemble: 'normal',
    eigenvalues: [],
    seed,
    samples,
  });
  while (!job.advance(1e6));
  job.delete();
}

simulate(2000); // warm
parentPort.on('message', () => {
  simulate(40000);
  parentPort.postMessage('done');
});
parentPort.postMessage('ready');
