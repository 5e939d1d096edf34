// Prints what llama.cpp makes of a text, a line of JSON for each model: -log probability of each token after the first,
// nats, and the probabilities of all tokens after the last one: probabilities.mjs TEXT FILE.gguf...
// Keys and values are kept in single precision.
import { readFileSync } from 'node:fs';
import { getLlama } from 'node-llama-cpp';

const [text, ...paths] = process.argv.slice(2);
const llama = await getLlama({ gpu: false, build: 'never', progressLogs: false, logLevel: 'error' });
const cache = { experimentalKvCacheKeyType: 'F32', experimentalKvCacheValueType: 'F32' };
const options = { temperature: 1, topK: 0, topP: 1, minP: 0 };
for (const path of paths) {
  const model = await llama.loadModel({ modelPath: path });
  const ids = [model.tokens.bos, ...model.tokenize(readFileSync(text, 'utf8'))];
  const context = await model.createContext({ contextSize: ids.length, flashAttention: false, ...cache });
  const input = ids.map((id) => [id, { generateNext: { probabilities: true, options } }]);
  const output = await context.getSequence().controlledEvaluate(input);
  const after = output.map(({ next }) => next.probabilities);
  const losses = ids.slice(1).map((id, k) => -Math.log(after[k].get(id)));
  const last = Array.from({ length: after.at(-1).size }, (_, id) => after.at(-1).get(id));
  console.log(JSON.stringify({ losses, last }));
  await model.dispose();
}
process.exit(0);
