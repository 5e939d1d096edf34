// Prints the seconds in which llama.cpp runs a text as one batch, with all processors and its own settings:
// prompt.mjs TEXT FILE.gguf
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { getLlama } from 'node-llama-cpp';

const [text, path] = process.argv.slice(2);
const llama = await getLlama({ gpu: false, build: 'never', progressLogs: false, logLevel: 'error', maxThreads: 0 });
const model = await llama.loadModel({ modelPath: path });
const ids = [model.tokens.bos, ...model.tokenize(readFileSync(text, 'utf8'))];
const context = await model.createContext({
  contextSize: ids.length + 1,
  batchSize: ids.length,
  threads: availableParallelism(),
});
const start = performance.now();
await context.getSequence().controlledEvaluate([...ids.slice(0, -1), [ids.at(-1), { generateNext: { token: true } }]]);
const seconds = (performance.now() - start) / 1000;
process.stdout.write(JSON.stringify({ tokens: ids.length, seconds }), () => process.exit(0));
