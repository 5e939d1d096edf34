// Prints llama.cpp's ids of texts, a line each, without special tokens around them, then a line with the ids of the
// tokens that the model adds at the beginning and at the end, each empty for none: ids.mjs FILE.gguf TEXTS
// The texts are a file of theirs, separated by bytes 0; special tokens in them are found.
import { readFileSync } from 'node:fs';
import { getLlama } from 'node-llama-cpp';

const llama = await getLlama({ gpu: false, build: 'never', progressLogs: false, logLevel: 'error' });
const model = await llama.loadModel({ modelPath: process.argv[2], vocabOnly: true });
const texts = readFileSync(process.argv[3], 'utf8').split('\0').slice(0, -1);
const lines = texts.map((text) => model._model.tokenize(text, true).join(' '));
const { bos, eos, sep, shouldPrependBosToken, shouldAppendEosToken } = model.tokens;
const end = model.vocabularyType === 'wpm' ? sep : shouldAppendEosToken ? eos : '';
const added = [shouldPrependBosToken ? bos : '', end];
process.stdout.write(`${lines.join('\n')}\n${added.join(' ')}\n`, () => process.exit(0));
