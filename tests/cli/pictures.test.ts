// Pictures on the command line: what its decoders read, and what a vision model does with them.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ByteSource } from '../../web/engine/protocol.ts';
import { ppmOf, safetensorsOf, VIT, VIT_CONFIG } from '../checkpoints.ts';
import { engine, expectRefused, finish, json, MINILM, raw, root, run, temporaryFolder } from './eigenscope.ts';

const folder = temporaryFolder();

function write(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}
const weights = safetensorsOf(VIT);
const model = write('model.safetensors', weights);
write('config.json', VIT_CONFIG);

const folderOfPictures = join(root, 'tests/pictures');
const picture = (name: string) => join(folderOfPictures, name);
/** The pixels that Pillow decodes. */
const decoded = JSON.parse(readFileSync(join(root, 'tests/reference/picture-files.json'), 'utf8'));

/** A file as the page's worker gives it to the engine. */
function source(content: Buffer | string): Blob {
  const all = new Uint8Array(Buffer.from(content));
  const read = (offset: number, length: number) => all.slice(offset, offset + length);
  const found: ByteSource = { name: 'file', size: all.length, read };
  return found as unknown as Blob;
}

describe('eigenscope attend --image', () => {
  test.each(readdirSync(folderOfPictures))('%s is read as Pillow decodes it', (name) => {
    const image = write(`${name}.ppm`, ppmOf(decoded[name]));
    const expected = json('attend', { image }, model, '--weights');
    expect(json('attend', { image: picture(name) }, model, '--weights')).toEqual(expected);
  });

  test('measures every head on each picture', () => {
    const args = ['--image', picture('waves.png'), picture('gray.jpg'), '--image', picture('alpha.png'), '--weights'];
    const ran = raw('attend', model, ...args);
    expect(ran.stderr).toContain('without preprocessor_config.json');
    const { passages, heads, patch_side, text_passages, weights, pictures } = JSON.parse(ran.stdout);
    expect([patch_side, text_passages, passages.length, heads.length, weights.length]).toEqual([4, 3, 3, 4, 12]);
    expect(passages[0].tokens.slice(0, 6)).toEqual(['[CLS]', '0,0', '0,1', '0,2', '0,3', '1,0']);
    expect(passages[0].tokens.at(-1)).toBe('3,3');
    for (const { entropy, queries } of heads) {
      expect(queries).toBe(3 * 17);
      expect(entropy).toBeGreaterThan(0);
      expect(entropy).toBeLessThan(1);
    }
    expect(weights[0].weights).not.toEqual(weights[1].weights);
    expect(pictures.map(({ rgb }: { rgb: number[][][] }) => [rgb.length, rgb[0].length])).toEqual(
      Array(3).fill([8, 8]),
    );
  });

  test('preprocesses as the file beside the weights says', () => {
    const plain = json('attend', { image: picture('waves.png') }, model);
    const beside = write('preprocessor_config.json', '{"image_mean":[0.2,0.5,0.5],"size":8}');
    const ran = run('attend', { image: picture('waves.png') }, model);
    rmSync(beside);
    expect(ran.stderr).toBe('');
    expect(JSON.parse(ran.stdout).heads).not.toEqual(plain.heads);
    const other = write('other.json', '{"size":{"height":16,"width":16}}');
    expectRefused(
      run('attend', { image: picture('waves.png'), preprocessor: other }, model),
      'size: it must be 8 x 8, the size that the model takes, found 16 x 16',
      1,
    );
  });

  test('has the same numbers in WASM', async () => {
    const found = finish(await engine(), 'attend', {
      model: [source(weights)],
      index: null,
      config: source(VIT_CONFIG),
      image: new Uint8Array(ppmOf(decoded['waves.jpg'])),
      weights: true,
    });
    const native = json('attend', { image: picture('waves.jpg') }, model, '--weights');
    expect(found.passages.map(({ tokens }) => tokens)).toEqual(
      native.passages.map((it: { tokens: string[] }) => it.tokens),
    );
    found.heads.forEach(({ entropy, distance }, i) => {
      expect(entropy).toBeCloseTo(native.heads[i].entropy, 5);
      expect(distance).toBeCloseTo(native.heads[i].distance, 4);
    });
    expect(Math.abs(found.weights[0].weights[20]! - native.weights[0].weights.flat()[20])).toBeLessThan(1e-5);
  });

  test('refuses what is no picture, damaged pictures and other models', () => {
    const png = readFileSync(picture('waves.png'));
    const jpeg = readFileSync(picture('waves.jpg'));
    const huge = Buffer.from(png);
    huge.writeUInt32BE(100_000, 16);
    const refusals: [string, RegExp][] = [
      [write('text.png', 'no picture'), /text\.png: it must be a PNG, JPEG or PPM \(P6\) file/],
      [write('cut.png', png.subarray(0, 400)), /cut\.png: it must be a readable PNG file: /],
      [write('cut.jpg', jpeg.subarray(0, 700)), /cut\.jpg: it must be a readable JPEG file: /],
      [write('huge.png', huge), /huge\.png: /],
      [write('large.ppm', 'P6 9000 9000 255\n'), /large\.ppm: image must have from 1 to 64000000 pixels/],
      [write('cut.ppm', 'P6 2 2 255\nabc'), /cut\.ppm: image must be .*truncated/],
      [write('empty.png', ''), /empty\.png: it must be a picture, but it is empty/],
      [
        write('none.jpg', Buffer.from('ffd8ff', 'hex')),
        /none\.jpg: it must be a readable JPEG file: it has no picture/,
      ],
      [join(folder, 'none.png'), /none\.png: /],
    ];
    for (const [image, message] of refusals) {
      expectRefused(run('attend', { image }, model), message, 1);
    }
    const text = run('attend', { image: picture('waves.png') }, MINILM);
    expectRefused(text, /this architecture \(BERT.*\) cannot be run on pictures; supported: .*ViT \(vit deit\)/, 1);
    expectRefused(
      run('attend', { image: picture('waves.png'), text: 'a' }, model),
      '--image must be omitted with --text',
    );
  });
});
