// One worker of the benchmark: makes an instance, says so, then simulates once for each message.
import { parentPort, workerData } from 'node:worker_threads';
import { createEngine, finish } from './wasm-engine.mjs';

const engine = await createEngine();

function simulate(samples) {
  const job = engine.createJob('simulate', {
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
    seed: workerData.seed,
    samples,
  });
  finish(job);
}

simulate(2000); // warm
parentPort.on('message', () => {
  simulate(40000);
  parentPort.postMessage('done');
});
parentPort.postMessage('ready');
