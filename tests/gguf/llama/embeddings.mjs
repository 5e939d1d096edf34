// Prints llama.cpp's embedding of a text, a line of JSON for each model: embeddings.mjs TEXT FILE.gguf...
import { readFileSync } from 'node:fs';
import { getLlama } from 'node-llama-cpp';

const [text, ...paths] = process.argv.slice(2);
const llama = await getLlama({ gpu: false, build: 'never', progressLogs: false, logLevel: 'error' });
for (const path of paths) {
  const model = await llama.loadModel({ modelPath: path });
  const context = await model.createEmbeddingContext({ contextSize: 256, batchSize: 256 });
  const { vector } = await context.getEmbeddingFor(readFileSync(text, 'utf8'));
  console.log(JSON.stringify(vector));
  await model.dispose();
}
process.exit(0);
