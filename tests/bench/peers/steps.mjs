// One training step of our benchmark's model (2 layers, width 64, 4 heads, length 64, batch 8, bytes:
// forward, backward, AdamW) in other libraries' WebAssembly. Each maker returns a function that does
// one step and gives its loss.
import { createRequire } from 'node:module';

const [D, H, T, B, V, LAYERS] = [64, 4, 64, 8, 256, 2];
const RATE = 3e-3;
const DECAY = 0.1;

/** Numbers in [-1/2, 1/2), the same for all. */
function generator() {
  let state = 1;
  return () => (state = (state * 16807) % 2147483647) / 2147483647 - 0.5;
}

/** A tree of parameters from `matrix(rows, columns)` and `vector(size, value)`. */
function parameters(matrix, vector) {
  const norm = () => [vector(D, 1), vector(D, 0)];
  const linear = (from, to) => [matrix(from, to), vector(to, 0)];
  const layer = () => ({
    norm1: norm(),
    fused: linear(D, 3 * D),
    projection: linear(D, D),
    norm2: norm(),
    up: linear(D, 4 * D),
    down: linear(4 * D, D),
  });
  const layers = Array.from({ length: LAYERS }, layer);
  return { embedding: matrix(V, D), positions: matrix(T, D), final: norm(), layers };
}

function draws(random, count) {
  return Float32Array.from({ length: count }, () => 0.24 * random());
}

function ids(random) {
  return Int32Array.from({ length: B * T }, () => Math.floor((random() + 0.5) * 26) + 97);
}

/** All of a step is one compiled function. Arrays are used up unless their `ref` is taken. */
export async function jaxStep() {
  const jax = await import('@jax-js/jax');
  const { numpy: np, nn, tree } = jax;
  await jax.init('wasm');
  jax.defaultDevice('wasm');
  const random = generator();

  function norm(x, [gain, bias]) {
    const centred = x.ref.sub(np.mean(x, -1, { keepdims: true }));
    const variance = np.mean(np.square(centred.ref), -1, { keepdims: true });
    return centred
      .div(np.sqrt(variance.add(1e-5)))
      .mul(gain)
      .add(bias);
  }
  const linear = (x, [weight, bias]) => np.matmul(x, weight).add(bias);
  function attend(x, layer) {
    const fused = linear(norm(x, layer.norm1), layer.fused).reshape([B, T, 3, H, D / H]);
    const [query, key, value] = np
      .split(fused, 3, 2)
      .map((part) => np.transpose(part.reshape([B, T, H, D / H]), [0, 2, 1, 3]));
    const unseen = np.where(np.tril(np.ones([T, T])).equal(1), np.zeros([T, T]), np.full([T, T], -1e9));
    const logits = np.matmul(query, np.transpose(key, [0, 1, 3, 2])).mul((D / H) ** -0.5);
    const moved = np.matmul(nn.softmax(logits.add(unseen), -1), value);
    return linear(np.transpose(moved, [0, 2, 1, 3]).reshape([B * T, D]), layer.projection);
  }
  function loss(p, inputs, targets) {
    let x = np
      .matmul(nn.oneHot(inputs, V), p.embedding.ref)
      .reshape([B, T, D])
      .add(p.positions)
      .reshape([B * T, D]);
    for (const layer of p.layers) {
      x = x.ref.add(attend(x, layer));
      x = x.ref.add(linear(nn.gelu(linear(norm(x, layer.norm2), layer.up)), layer.down));
    }
    const logits = np.matmul(norm(x, p.final), np.transpose(p.embedding));
    return np.mean(np.sum(nn.logSoftmax(logits, -1).mul(nn.oneHot(targets, V)), -1)).neg();
  }
  const step = jax.jit((p, first, second, inputs, targets) => {
    const [value, slope] = jax.valueAndGrad(loss)(tree.ref(p), inputs, targets);
    const m = tree.map((a, g) => a.mul(0.9).add(g.mul(0.1)), first, tree.ref(slope));
    const v = tree.map((a, g) => a.mul(0.99).add(np.square(g).mul(0.01)), second, slope);
    const moved = (a, mean, square) => a.mul(1 - RATE * DECAY).sub(mean.div(np.sqrt(square).add(1e-8)).mul(RATE));
    return [tree.map(moved, p, tree.ref(m), tree.ref(v)), m, v, value];
  });

  let p = parameters(
    (rows, columns) => np.array(draws(random, rows * columns)).reshape([rows, columns]),
    (size, value) => np.full([size], value),
  );
  let m = tree.map((a) => np.zerosLike(a), tree.ref(p));
  let v = tree.map((a) => np.zerosLike(a), tree.ref(p));
  return async () => {
    let value;
    [p, m, v, value] = step(p, m, v, np.array(ids(random)), np.array(ids(random)));
    return (await value.data())[0];
  };
}

/** Operation by operation, as the library works. */
export async function tfjsStep() {
  // By require: under node the modules of the other form do not find each other.
  const require = createRequire(import.meta.url);
  const tf = require('@tensorflow/tfjs');
  require('@tensorflow/tfjs-backend-wasm');
  await tf.setBackend('wasm');
  const random = generator();
  const p = parameters(
    (rows, columns) => tf.variable(tf.tensor(draws(random, rows * columns), [rows, columns])),
    (size, value) => tf.variable(tf.fill([size], value)),
  );

  function norm(x, [gain, bias]) {
    const centred = tf.sub(x, tf.mean(x, -1, true));
    const variance = tf.mean(tf.square(centred), -1, true);
    return tf.add(tf.mul(tf.mul(centred, tf.rsqrt(tf.add(variance, 1e-5))), gain), bias);
  }
  const linear = (x, [weight, bias]) => tf.add(tf.matMul(x, weight), bias);
  function gelu(x) {
    const cubic = tf.add(x, tf.mul(tf.mul(tf.square(x), x), 0.044715));
    return tf.mul(tf.mul(x, 0.5), tf.add(tf.tanh(tf.mul(cubic, Math.sqrt(2 / Math.PI))), 1));
  }
  const unseen = tf.tensor(
    Float32Array.from({ length: T * T }, (_, i) => (i % T > Math.floor(i / T) ? -1e9 : 0)),
    [T, T],
  );
  function attend(x, layer) {
    const parts = tf.split(linear(norm(x, layer.norm1), layer.fused), 3, -1);
    const [query, key, value] = parts.map((part) => tf.transpose(tf.reshape(part, [B, T, H, D / H]), [0, 2, 1, 3]));
    const logits = tf.add(tf.mul(tf.matMul(query, key, false, true), (D / H) ** -0.5), unseen);
    const moved = tf.transpose(tf.matMul(tf.softmax(logits), value), [0, 2, 1, 3]);
    return linear(tf.reshape(moved, [B * T, D]), layer.projection);
  }
  function loss(inputs, targets) {
    const embedded = tf.matMul(inputs, p.embedding);
    let x = tf.reshape(tf.add(tf.reshape(embedded, [B, T, D]), p.positions), [B * T, D]);
    for (const layer of p.layers) {
      x = tf.add(x, attend(x, layer));
      x = tf.add(x, linear(gelu(linear(norm(x, layer.norm2), layer.up)), layer.down));
    }
    const logits = tf.matMul(norm(x, p.final), p.embedding, false, true);
    return tf.neg(tf.mean(tf.sum(tf.mul(tf.logSoftmax(logits), targets), -1)));
  }
  const moments = new Map();
  function update(variable, slope) {
    if (!moments.has(variable.name)) {
      const zero = () => tf.variable(tf.zerosLike(variable), false);
      moments.set(variable.name, [zero(), zero()]);
    }
    const [m, v] = moments.get(variable.name);
    m.assign(tf.add(tf.mul(m, 0.9), tf.mul(slope, 0.1)));
    v.assign(tf.add(tf.mul(v, 0.99), tf.mul(tf.square(slope), 0.01)));
    const direction = tf.div(m, tf.add(tf.sqrt(v), 1e-8));
    variable.assign(tf.sub(tf.mul(variable, 1 - RATE * DECAY), tf.mul(direction, RATE)));
  }
  const variables = Object.values(tf.engine().registeredVariables);
  const byName = new Map(variables.map((variable) => [variable.name, variable]));
  return async () => {
    const value = tf.tidy(() => {
      const [inputs, targets] = [ids(random), ids(random)].map((list) =>
        tf.cast(tf.oneHot(tf.tensor1d(list, 'int32'), V), 'float32'),
      );
      const { value, grads } = tf.variableGrads(() => loss(inputs, targets), variables);
      for (const [name, slope] of Object.entries(grads)) update(byName.get(name), slope);
      return value;
    });
    const [number] = await value.data();
    value.dispose();
    return number;
  };
}
