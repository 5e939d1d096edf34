// Small checkpoints with known names, as files.
import { closeSync, openSync, readSync, writeSync } from 'node:fs';

export interface Tensors {
  [name: string]: { shape: number[]; value(place: number): number };
}

/** The bytes of a .safetensors file with these tensors; in BF16 cut off, not rounded. */
export function safetensorsOf(tensors: Tensors, dtype: 'F32' | 'BF16' = 'F32'): Buffer {
  const header: Record<string, unknown> = {};
  const data: Buffer[] = [];
  let end = 0;
  for (const [name, { shape, value }] of Object.entries(tensors)) {
    const values = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => value(i));
    const codes = dtype === 'F32' ? values : Uint16Array.from(new Uint32Array(values.buffer), (bits) => bits >>> 16);
    data.push(Buffer.from(codes.buffer));
    header[name] = { dtype, shape, data_offsets: [end, (end += codes.byteLength)] };
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, ...data]);
}

/** Makes the first weight of a tensor in a .safetensors file NaN. */
export function spoil(path: string, tensor: string): void {
  const file = openSync(path, 'r+');
  const length = Buffer.alloc(8);
  readSync(file, length, 0, 8, 0);
  const text = Buffer.alloc(Number(length.readBigUInt64LE()));
  readSync(file, text, 0, text.length, 8);
  const { dtype, data_offsets } = JSON.parse(text.toString())[tensor];
  const nan = Buffer.from([0, 0, 0xc0, 0x7f]); // in BF16 its last two bytes
  writeSync(file, nan.subarray(dtype === 'BF16' ? 2 : 0), 0, null, 8 + text.length + data_offsets[0]);
  closeSync(file);
}

/** Weights that differ from tensor to tensor. */
export const waves = (seed: number) => (i: number) => Math.sin(1.3 * i + seed);

/** A LLaMA of one layer, two heads that share a key, with embeddings; its gain is 2. */
export const LLAMA: Tensors = {
  'model.embed_tokens.weight': { shape: [9, 8], value: waves(3) },
  'model.layers.0.self_attn.q_proj.weight': { shape: [8, 8], value: waves(1) },
  'model.layers.0.self_attn.k_proj.weight': { shape: [4, 8], value: waves(2) },
  'model.layers.0.input_layernorm.weight': { shape: [8], value: () => 2 },
};
export const LLAMA_CONFIG = JSON.stringify({
  model_type: 'llama',
  num_attention_heads: 2,
  num_key_value_heads: 1,
  hidden_size: 8,
});

/**
 * LLAMA as llama.cpp's converter writes it: rotary pairs are neighbours in each head of width 4. Its metadata may name
 * another architecture of the same tensors.
 */
export function llamaGguf(architecture = 'llama'): Buffer {
  const names: Record<string, string> = {
    'model.embed_tokens.weight': 'token_embd.weight',
    'model.layers.0.self_attn.q_proj.weight': 'blk.0.attn_q.weight',
    'model.layers.0.self_attn.k_proj.weight': 'blk.0.attn_k.weight',
    'model.layers.0.input_layernorm.weight': 'blk.0.attn_norm.weight',
  };
  const integer = (value: number | bigint) => {
    const bytes = Buffer.alloc(typeof value === 'bigint' ? 8 : 4);
    if (typeof value === 'bigint') bytes.writeBigUInt64LE(value);
    else bytes.writeUInt32LE(value);
    return bytes;
  };
  const text = (value: string) => Buffer.concat([integer(BigInt(value.length)), Buffer.from(value)]);
  const counts = { embedding_length: 8, 'attention.head_count': 2, 'attention.head_count_kv': 1 };
  const entries = [
    Buffer.concat([text('general.architecture'), integer(8), text(architecture)]),
    ...Object.entries(counts).map(([key, value]) =>
      Buffer.concat([text(`${architecture}.${key}`), integer(4), integer(value)]),
    ),
  ];
  const infos: Buffer[] = [];
  const data: Buffer[] = [];
  let end = 0;
  for (const [name, { shape, value }] of Object.entries(LLAMA)) {
    const isTurned = /[qk]_proj/.test(name);
    const rowOf = (row: number) => (isTurned ? row - (row % 4) + [0, 2, 1, 3][row % 4] : row);
    const width = shape.at(-1)!;
    const values = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) =>
      value(shape.length === 1 ? i : rowOf(Math.floor(i / width)) * width + (i % width)),
    );
    const sizes = shape.toReversed().map((size) => integer(BigInt(size)));
    infos.push(text(names[name]), integer(shape.length), ...sizes, integer(0), integer(BigInt(end)));
    data.push(Buffer.from(values.buffer), Buffer.alloc(-values.byteLength & 31));
    end += (values.byteLength + 31) & ~31;
  }
  const counted = [integer(BigInt(Object.keys(LLAMA).length)), integer(BigInt(entries.length))];
  const header = Buffer.concat([Buffer.from('GGUF'), integer(3), ...counted, ...entries, ...infos]);
  return Buffer.concat([header, Buffer.alloc(-header.length & 31), ...data]);
}

/** A Whisper of one encoder and one decoder layer with two heads each. */
export const WHISPER: Tensors = Object.fromEntries([
  ['encoder.conv1.weight', { shape: [4, 1, 3], value: waves(0) }],
  ...['encoder.layers.0.self_attn', 'decoder.layers.0.self_attn', 'decoder.layers.0.encoder_attn']
    .flatMap((name) => [`${name}.q_proj.weight`, `${name}.k_proj.weight`])
    .map((name, seed) => [name, { shape: [4, 4], value: waves(seed) }]),
]);
export const WHISPER_CONFIG = JSON.stringify({
  model_type: 'whisper',
  d_model: 4,
  encoder_attention_heads: 2,
  decoder_attention_heads: 2,
});

/** The files of a checkpoint in as many shards as it has tensors, with their index. */
export function shardsOf(tensors: Tensors): { name: string; buffer: Buffer }[] {
  const names = Object.keys(tensors);
  const file = (place: number) => `model-${place + 1}-of-${names.length}.safetensors`;
  const map = Object.fromEntries(names.map((name, place) => [name, file(place)]));
  const index = { metadata: {}, weight_map: map };
  return [
    ...names.map((name, place) => ({ name: file(place), buffer: safetensorsOf({ [name]: tensors[name] }) })),
    { name: 'model.safetensors.index.json', buffer: Buffer.from(JSON.stringify(index)) },
  ];
}

/** A ViT of two layers and two heads on 4 x 4 patches of 2 x 2 pixels, with its class token. */
export const VIT: Tensors = {
  'vit.embeddings.cls_token': { shape: [1, 1, 8], value: waves(1) },
  'vit.embeddings.position_embeddings': { shape: [1, 17, 8], value: waves(2) },
  'vit.embeddings.patch_embeddings.projection.weight': { shape: [8, 3, 2, 2], value: waves(3) },
  'vit.embeddings.patch_embeddings.projection.bias': { shape: [8], value: waves(4) },
  ...Object.fromEntries(
    [0, 1].flatMap((layer) => {
      const p = `vit.encoder.layer.${layer}.`;
      const linear = (name: string, out: number, inputs: number, seed: number) => [
        [`${p}${name}.weight`, { shape: [out, inputs], value: waves(seed + layer) }],
        [`${p}${name}.bias`, { shape: [out], value: waves(seed + 0.5) }],
      ];
      const norm = (name: string) => [
        [`${p}${name}.weight`, { shape: [8], value: () => 1 }],
        [`${p}${name}.bias`, { shape: [8], value: () => 0 }],
      ];
      return [
        ...linear('attention.attention.query', 8, 8, 5),
        ...linear('attention.attention.key', 8, 8, 7),
        ...linear('attention.attention.value', 8, 8, 9),
        ...linear('attention.output.dense', 8, 8, 11),
        ...linear('intermediate.dense', 12, 8, 13),
        ...linear('output.dense', 8, 12, 15),
        ...norm('layernorm_before'),
        ...norm('layernorm_after'),
      ];
    }),
  ),
};
export const VIT_CONFIG = JSON.stringify({ model_type: 'vit', num_attention_heads: 2, hidden_size: 8 });

/** A binary PPM file. */
export function ppmOf({ width, height, rgb }: { width: number; height: number; rgb: number[] }): Buffer {
  return Buffer.concat([Buffer.from(`P6\n${width} ${height}\n255\n`), Buffer.from(rgb)]);
}
