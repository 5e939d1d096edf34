// An encoder of MiniLM's shape, as torch-encoder.py writes it, in onnxruntime-web on one thread.
import * as ort from 'onnxruntime-web';

const WIDTH = 384;

/** A function that runs `passages` of `length` tokens through the model in `file`. */
export async function onnxPass(file, passages, length) {
  ort.env.wasm.numThreads = 1;
  const session = await ort.InferenceSession.create(file, { executionProviders: ['wasm'] });
  const numbers = Float32Array.from({ length: passages * length * WIDTH }, (_, i) => Math.sin(i));
  const tokens = new ort.Tensor('float32', numbers, [passages, length, WIDTH]);
  return () => session.run({ tokens });
}
