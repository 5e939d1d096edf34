// Inputs as people give them: streams, folders, files of another format, empty texts, too little memory.
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bash, expectRefused, json, MINILM, raw, run, temporaryFolder } from './eigenscope.ts';

const folder = temporaryFolder();
const write = (name: string, content: string | Uint8Array) => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};
const text = write('text.txt', 'It was the best of times,\nit was the worst of times.\n'.repeat(40));
const small = { width: 8, depth: 1, heads: 2, length: 8, batch: 2, steps: 2, log_every: 2, eval_batches: 1 };
const out = join(folder, 'runs');
const first = json('train', { ...small, text, out, seeds: 2 });
const model = join(out, 'none-seed1');
const checkpoint = join(model, 'model.safetensors');
const flags = Object.entries(small)
  .map(([name, value]) => `--${name.replaceAll('_', '-')} ${value}`)
  .join(' ');

describe('a stream is read as a file', () => {
  const loss = () => first.runs[0].bits_per_byte;

  test.each([
    `cat ${text} | "$EIGENSCOPE" train ${flags} --text -`,
    `"$EIGENSCOPE" train ${flags} --text - < ${text}`,
    `"$EIGENSCOPE" train ${flags} --text <(cat ${text})`,
    `echo '{"steps": 2}' | "$EIGENSCOPE" train ${flags} --text ${text} --config -`,
  ])('%s', (line) => {
    const ran = bash(line);
    expect(ran.stderr).toBe('');
    expect(JSON.parse(ran.stdout).runs[0].rows.at(-1).bits_per_byte).toBe(loss());
  });

  test('by predict, evaluate and heads', () => {
    const asked = `predict ${model} --length 8 --passages 4 --file`;
    const piped = bash(`cat ${text} | "$EIGENSCOPE" ${asked} -`);
    expect(piped.stderr).toBe('');
    expect(piped.stdout).toBe(raw(...asked.split(' '), text).stdout);
    const options = ['--text', text, '--checkpoint'];
    const evaluated = bash(`"$EIGENSCOPE" evaluate --text ${text} --checkpoint <(cat ${checkpoint})`);
    expect(evaluated.stdout).toBe(raw('evaluate', ...options, checkpoint).stdout);
    const heads = bash(`cat ${checkpoint} | "$EIGENSCOPE" heads - --heads 2 --model-type gpt2`);
    expect(heads.stderr).toBe('');
    expect(JSON.parse(heads.stdout).heads).toHaveLength(2);
  });

  test.each(['heads /dev/zero', 'heads - < /dev/zero'])('but not without end: %s', (line) => {
    expectRefused(
      bash(`ulimit -v 500000; "$EIGENSCOPE" ${line}`),
      /(\/dev\/zero|standard input): a stream must have at most 1000000000 /,
      1,
    );
  });
});

describe('the checkpoint of a training run', () => {
  const commands = [['evaluate', '--text', text], ['generate'], ['run-attention', '--prompt', 'It']];

  test.each(commands)('is needed by %s', (...command) => {
    expectRefused(raw(...command), '--checkpoint must be given');
  });

  test.each(commands)('may be given %s as its folder', (...command) => {
    const ran = raw(...command, '--checkpoint', model);
    expect(ran.stderr).toBe('');
    expect(ran.stdout).toBe(raw(...command, '--checkpoint', checkpoint).stdout);
  });

  test.each(commands)('is refused by %s with what it is instead', (...command) => {
    const refused = (path: string) => {
      const ran = raw(...command, '--checkpoint', path);
      expect(ran.stdout).toBe('');
      return ran.stderr;
    };
    const jpeg = write('photo.safetensors', Buffer.from('ffd8ffe000104a46494600010100', 'hex'));
    expect(refused(jpeg)).toContain(`${jpeg}: it is a JPEG picture, not .safetensors`);
    const noise = write('noise.safetensors', Buffer.from('d34fa6118bc24db87e0192ff00', 'hex'));
    expect(refused(noise)).toContain(
      `${noise}: it is not a .safetensors file: it must begin with the length of a header in 8 ` +
        "bytes and a '{', but it begins with the bytes d3 4f a6 11 8b c2 4d b8\n",
    );
    const empty = write('empty.safetensors', '');
    expect(refused(empty)).toContain(`${empty}: it must have the weights of a model, but it is empty`);
    expect(refused(out)).toContain('--checkpoint must name one checkpoint: the folder has 2, such as');
    expect(refused('')).toContain('--checkpoint must be a path or a name: found an empty text');
    expect(refused(MINILM)).toContain("of a checkpoint of `eigenscope train`, but is 'pt'\n");
    const bare = join(folder, 'bare');
    mkdirSync(bare, { recursive: true });
    expect(refused(bare)).toContain(
      `${bare}: there is no .safetensors, .gguf, pytorch_model.bin, .pt, .pth or .ckpt file of a model in it`,
    );
  });

  test('is refused with its damaged entry', () => {
    const bytes = readFileSync(checkpoint);
    const at = bytes.indexOf('"lowest_loss":"') + '"lowest_loss":"'.length;
    const end = bytes.indexOf('"', at);
    const damaged = Buffer.from(bytes);
    damaged.fill(' ', at, end + 1).write('"', at);
    const path = write('damaged.safetensors', damaged);
    expectRefused(run('generate', { checkpoint: path }), 'lowest_loss: it must be', 1);
  });
});

test('an empty text is refused by every option of a path or a name', () => {
  const named: Record<string, string[]> = {
    train: ['out', 'config', 'text', 'validation', 'intervention', 'export', 'grid'],
    heads: ['config', 'grid'],
    predict: ['config', 'tokenizer', 'file', 'grid'],
    evaluate: ['text', 'checkpoint'],
    collect: ['cells', 'out'],
  };
  for (const [command, options] of Object.entries(named)) {
    for (const option of options) {
      expectRefused(
        raw(command, ...(['heads', 'predict'].includes(command) ? [MINILM] : []), `--${option}`, ''),
        `${option} must be a path or a name: found an empty text`,
      );
    }
  }
  const config = write('empty.json', '{"out": ""}');
  expect(run('train', { config }).stderr).toContain('out: it must not be empty in ');
});

test('an empty file is refused, not taken for one that is not given', () => {
  const file = write('empty.txt', '');
  for (const command of ['attend', 'predict']) {
    expectRefused(run(command, { length: 8, file }, model), `--file must have at least one byte: ${file} has none`);
  }
});

test('an item that is there twice is refused', () => {
  const twice = run('train', { ...small, text, regularizer: 'none,locater,none' });
  expectRefused(twice, "--regularizer must have each item once: 'none' occurs twice");
  const both = run('train', { ...small, text, intervention: 'hard,hard' });
  expect(both.stderr).toContain("--intervention must have each item once: 'hard' occurs twice");
});

test.each([
  ['{"width": 8,\n "depth" 1}', 'line 2, column 10'],
  ['', 'line 1, column 1'],
  ['{"width": 8', 'line 1, column 12'],
  ['{"width": 8}\n\0', 'line 2, column 1'],
  ['{"text": "\xff"}', 'line 1, column 11'],
])('malformed JSON has a place: %j', (content, place) => {
  const config = write('malformed.json', Buffer.from(content, 'latin1'));
  expectRefused(run('train', { config }), `${config}: it must be JSON in UTF-8; the text is not, at ${place}`, 1);
  for (const command of ['train', 'heads']) {
    const grid = run(command, { grid: config, out: join(folder, 'cells') });
    expect(grid.stderr).toContain(`grid: it must be JSON in UTF-8; the text is not, at ${place}`);
  }
});

test('a key that an object has twice is refused', () => {
  const config = write('duplicate.json', '{"steps": 3, "axes": {"width": 1, "width": 2}}');
  expectRefused(run('train', { config }), `${config}: duplicate key 'width'`, 1);
  for (const command of ['train', 'heads']) {
    const grid = run(command, { grid: config, out: join(folder, 'cells') });
    expect(grid.stderr).toContain("grid: duplicate key 'width'");
  }
});

test('a number beyond a double is refused with its file', () => {
  const config = write('large.json', '{"steps": 1e400}');
  const message = 'it must have numbers from -1.8e308 to 1.8e308, but one is beyond';
  expectRefused(run('train', { config }), `${config}: ${message}`, 1);
  expectRefused(run('attend', { text: 'a', config }, model), `${config}: ${message}`, 1);
});

test('too little memory is named, with the sizes asked for', () => {
  const asked = 'collapse --width 4096 --length 2048 --stacks 2 --depth 2';
  const ran = bash(`ulimit -v 100000; "$EIGENSCOPE" ${asked}`);
  expectRefused(ran, 'memory: the sizes asked for must fit into memory, but they do not', 1);
  expect(ran.stderr).toContain('--width 4096 --length 2048');
  expect(ran.stderr).toContain('this process may have 102 MB');
});

test('a training whose folder was copied resumes in the copy', () => {
  const copy = join(folder, 'copied');
  cpSync(out, copy, { recursive: true });
  expect(json('train', { ...small, text, out: copy, seeds: 2 }, '--resume').table).toEqual(first.table);
});

test.skipIf(process.getuid?.() !== 0)('a file that may not be read is not called absent', () => {
  const closed = join(folder, 'closed');
  mkdirSync(closed, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o755);
  const path = join(closed, 'model.safetensors');
  writeFileSync(path, 'x');
  const line = (command: string) =>
    bash(`setpriv --reuid 65534 --regid 65534 --clear-groups "$EIGENSCOPE" ${command} ${path}`);
  for (const command of ['heads', 'generate --checkpoint', 'train --config']) {
    expect(line(command).stderr).toContain(`${path}: it cannot be read: Permission denied`);
  }
  chmodSync(closed, 0o755);
  chmodSync(path, 0);
  expect(line('heads').stderr).toContain(
    `${path}: it must be a file that can be opened for reading: Permission denied`,
  );
});
