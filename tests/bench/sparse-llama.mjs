// Writes a checkpoint in the shape of a LLaMA of 7 billion weights (32 layers of 32 heads, width 4096), of one of 1.1
// billion (22 layers of 32 heads with 4 key heads, width 2048) or of Mixtral (47 billion; 32 layers of 32 heads with 8
// key heads, width 4096, two of 8 experts), BF16, in shards with their index, config.json and, with --tokenizer, a
// tokenizer.json of bytes. The files are sparse: only headers, gains and, with --dense, queries, keys and of a mixture
// what its routers see or, with --full, all weights take room on the disk; the rest are holes, which read as zeros.
//
//   node tests/bench/sparse-llama.mjs FOLDER [--size 7b|1.1b|47b] [--dense|--full] [--tokenizer] [--layers N]
import { closeSync, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const SIZES = {
  '7b': { width: 4096, hidden: 11008, heads: 32, keyHeads: 32, layers: 32 },
  '1.1b': { width: 2048, hidden: 5632, heads: 32, keyHeads: 4, layers: 22 },
  '47b': { width: 4096, hidden: 14336, heads: 32, keyHeads: 8, layers: 32, experts: 8 },
};
const TOKENS = 32000;
const LAYERS_A_SHARD = 8;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: 'string', default: '7b' },
    dense: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    tokenizer: { type: 'boolean', default: false },
    layers: { type: 'string' },
  },
});
const [folder] = positionals;
const size = SIZES[values.size];
const layers = Number(values.layers ?? size?.layers);
if (!folder || !size || !Number.isInteger(layers) || layers < 1) {
  console.error(
    'usage: node tests/bench/sparse-llama.mjs FOLDER [--size 7b|1.1b|47b] [--dense|--full] [--tokenizer] [--layers N]',
  );
  process.exit(2);
}
const { width: WIDTH, hidden: HIDDEN, heads: HEADS, keyHeads: KEY_HEADS, experts = 0 } = size;

/** [name, shape] of each tensor of an MLP, or of a router and its experts. */
function mlpTensors(at) {
  const parts = ([gate, up, down], place) => [
    ...[gate, up].map((name) => [`${place}.${name}.weight`, [HIDDEN, WIDTH]]),
    [`${place}.${down}.weight`, [WIDTH, HIDDEN]],
  ];
  if (experts === 0) return parts(['gate_proj', 'up_proj', 'down_proj'], `${at}.mlp`);
  const of = (expert) => parts(['w1', 'w3', 'w2'], `${at}.block_sparse_moe.experts.${expert}`);
  const router = [`${at}.block_sparse_moe.gate.weight`, [experts, WIDTH]];
  return [router, ...Array.from({ length: experts }, (_, expert) => of(expert)).flat()];
}

/** [name, shape] of each tensor of a layer. */
function layerTensors(n) {
  const at = `model.layers.${n}`;
  const keys = (WIDTH / HEADS) * KEY_HEADS;
  return [
    ...['q', 'o'].map((p) => [`${at}.self_attn.${p}_proj.weight`, [WIDTH, WIDTH]]),
    ...['k', 'v'].map((p) => [`${at}.self_attn.${p}_proj.weight`, [keys, WIDTH]]),
    ...mlpTensors(at),
    ...['input', 'post_attention'].map((p) => [`${at}.${p}_layernorm.weight`, [WIDTH]]),
  ];
}

/**
 * About a MiB of BF16 numbers of standard deviation about 0.02, other ones for each seed. Their count is prime, so that
 * repeated they differ from head to head and from row to row.
 */
function someNumbers(seed) {
  const singles = new Float32Array(524287);
  let state = seed + 1;
  for (let i = 0; i < singles.length; ++i) {
    let sum = 0;
    for (let k = 0; k < 3; ++k) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      sum += state / 2 ** 32 - 0.5;
    }
    singles[i] = 0.04 * sum;
  }
  return Buffer.from(Uint16Array.from(new Uint32Array(singles.buffer), (bits) => bits >>> 16).buffer);
}

/** Without inputs and routers of a mixture all tokens would have the same experts. */
const DENSE = experts ? /[qk]_proj|embed_tokens|moe\.gate/ : /[qk]_proj/;

/** Tensors with numbers of their own, of all files. */
let filled = 0;

function writeShard(path, tensors) {
  const header = {};
  let end = 0;
  for (const [name, shape] of tensors) {
    const begin = end;
    end += 2 * shape.reduce((a, b) => a * b, 1);
    header[name] = { dtype: 'BF16', shape, data_offsets: [begin, end] };
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const file = openSync(path, 'w');
  writeSync(file, Buffer.concat([length, text]), 0, null, 0);
  const start = 8 + text.length;
  ftruncateSync(file, start + end);
  for (const [name, { data_offsets: offsets }] of Object.entries(header)) {
    const [from, to] = offsets.map((offset) => start + offset);
    if (name.includes('norm')) {
      writeSync(file, Buffer.alloc(to - from, Buffer.from([0x80, 0x3f])), 0, null, from); // ones
    } else if (values.full || (values.dense && DENSE.test(name))) {
      const block = someNumbers(filled++);
      for (let at = from; at < to; at += block.length) writeSync(file, block, 0, Math.min(block.length, to - at), at);
    }
  }
  closeSync(file);
  return end;
}

mkdirSync(folder, { recursive: true });
const shards = [[['model.embed_tokens.weight', [TOKENS, WIDTH]]]];
for (let n = 0; n < layers; ++n) {
  if (n > 0 && n % LAYERS_A_SHARD === 0) shards.push([]);
  shards.at(-1).push(...layerTensors(n));
}
shards.at(-1).push(['model.norm.weight', [WIDTH]], ['lm_head.weight', [TOKENS, WIDTH]]);
const map = {};
let total = 0;
shards.forEach((tensors, i) => {
  const two = (n) => String(n).padStart(5, '0');
  const name = `model-${two(i + 1)}-of-${two(shards.length)}.safetensors`;
  total += writeShard(join(folder, name), tensors);
  for (const [tensor] of tensors) map[tensor] = name;
});
writeFileSync(
  join(folder, 'model.safetensors.index.json'),
  JSON.stringify({ metadata: { total_size: total }, weight_map: map }),
);
writeFileSync(
  join(folder, 'config.json'),
  JSON.stringify({
    model_type: experts ? 'mixtral' : 'llama',
    ...(experts && { num_local_experts: experts, num_experts_per_tok: 2 }),
    hidden_size: WIDTH,
    num_attention_heads: HEADS,
    num_key_value_heads: KEY_HEADS,
    num_hidden_layers: layers,
    rope_theta: 10000,
  }),
);

/** The characters by which GPT-2 writes the bytes: their own where they can be printed, else those from 256 on. */
function byteCharacters() {
  const printed = (byte) => (byte >= 33 && byte <= 126) || (byte >= 161 && byte !== 173);
  let others = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(printed(byte) ? byte : others++));
}
if (values.tokenizer) {
  const vocab = Object.fromEntries(byteCharacters().map((character, byte) => [character, byte]));
  writeFileSync(
    join(folder, 'tokenizer.json'),
    JSON.stringify({
      pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, use_regex: false },
      decoder: { type: 'ByteLevel' },
      model: { type: 'BPE', vocab, merges: [] },
    }),
  );
}
console.log(`${folder}: ${(total / 1e9).toFixed(1)} GB in ${shards.length} files`);
