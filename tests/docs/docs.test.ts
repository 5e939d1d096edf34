// README, CONTRIBUTING and docs name only what exists: files, npm scripts, commands and their options.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandsOf } from '../../web/contract.mjs';
import { FIGURES } from '../../web/ui/registry';
import { helpTexts, json, root } from '../cli/eigenscope';

/** The most words of README.md, comments left out. */
const README_WORDS = 600;
/** Folders of the repository; others (build, dist, node_modules) are made. */
const FOLDERS = ['src', 'web', 'tests', 'docs', '.ci'];

const all = FOLDERS.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
);
const texts = ['README.md', 'CONTRIBUTING.md', ...all.filter((path) => /^docs\/.*\.md$/.test(path))];
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** Code spans and the lines of code blocks, comments left out. */
function codeOf(text: string): string[] {
  const blocks = [...text.matchAll(/^```\w*\n(.*?)^```/gms)].flatMap(([, code]) => code.split('\n'));
  const spans = [...text.replace(/^```.*?^```/gms, '').matchAll(/`([^`\n]+)`/g)].map(([, it]) => it);
  return [...blocks, ...spans].map((line) => line.replace(/\s+#\s.*$/, '').trim());
}

/** The anchors of a page's headings, as GitHub and GitLab make them: `## Byte models` is `#byte-models`. */
function anchorsOf(text: string): string[] {
  const headings = [...text.replace(/^```.*?^```/gms, '').matchAll(/^#+ (.*)$/gm)].map(([, it]) => it);
  const slugs = headings.map((it) =>
    it
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );
  return slugs.map((slug, at) => {
    const before = slugs.slice(0, at).filter((it) => it === slug).length;
    return before ? `${slug}-${before}` : slug;
  });
}

/**
 * Whether a path exists; `*` and NAME stand for any name, `{a,b}` for one of several. What the build
 * generates is not there before it.
 */
function isThere(path: string): boolean {
  if (path.startsWith('web/generated/')) return true;
  path = path.replace(/\bNAME\b/, '*');
  if (!/[*{]/.test(path)) return existsSync(join(root, path));
  const pattern = path
    .replace(/[.+^$()|[\]\\]/g, '\\$&')
    .replace(/\{([^}]*)\}/g, (_, names: string) => `(${names.replaceAll(',', '|')})`)
    .replaceAll('**', '.+')
    .replace(/(?<!\.)\*/g, '[^/]*');
  return all.some((it) => new RegExp(`^${pattern}$`).test(it));
}

const helps = helpTexts();

describe.each(texts)('%s', (path) => {
  const text = read(path);
  const code = codeOf(text);

  test('links to files that exist', () => {
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, link]) => link);
    const missing = links.filter((link) => !existsSync(join(root, dirname(path), link)));
    expect(missing).toEqual([]);
  });

  test('links to headings that exist', () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)];
    const missing = links.filter(([, file, anchor]) => {
      const target = file ? join(dirname(path), file) : path;
      return target.endsWith('.md') && !anchorsOf(read(target)).includes(anchor);
    });
    expect(missing.map(([link]) => link)).toEqual([]);
  });

  test('names files that exist', () => {
    const names = code
      .flatMap((line) => line.split(/\s+/))
      .map((word) => word.replace(/^[<'"(]+|[>'"),;:]+$/g, ''))
      .filter((word) => /^[\w.-]+\/[\w./*{},-]+$/.test(word))
      .filter((word) => FOLDERS.includes(word.split('/')[0]));
    expect(names.filter((name) => !isThere(name))).toEqual([]);
  });

  test('names npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const names = code.flatMap((line) => [...line.matchAll(/npm run ([\w:-]+)/g)]).map(([, it]) => it);
    expect(names.filter((name) => !(name in scripts))).toEqual([]);
  });

  test('names commands and options that exist', () => {
    const wrong = code
      .filter((line) => /^(build\/native\/)?eigenscope [a-z]/.test(line))
      .flatMap((line) => {
        const [, command, ...words] = line.split(/\s+/);
        const help = helps.get(command);
        if (help === undefined) return [command];
        const options = words.map((word) => word.split('=')[0]).filter((word) => /^--[a-z]/.test(word));
        const known = new Set(help.match(/--[a-z][a-z0-9-]*/g));
        return options.filter((it) => !known.has(it)).map((it) => `${command} ${it}`);
      });
    expect(wrong).toEqual([]);
  });
});

/** The options and arguments that a command's help has a line for, but --help. */
function listedOptions(help: string): string[] {
  return [...help.matchAll(/^ {2}(--[a-z][a-z0-9-]*|[A-Z]+)(?=\s)/gm)].map(([, name]) => name);
}

test('docs/commands.md is what `npm run commands` writes', () => {
  expect(read('docs/commands.md')).toBe(commandsOf(json('schema')));
});

test('docs/commands.md has every command with the options of its help, and no others', () => {
  const sections = read('docs/commands.md').split(/^## /m).slice(1);
  const documented = sections.map((section) => {
    const table = /^\| option \|.*\n.*\n((?:\|.*\n)*)/m.exec(section)?.[1] ?? '';
    const options = [...table.matchAll(/^\| `(\S+?)[ `]/gm)].map(([, name]) => name);
    return [section.split('\n')[0], options];
  });
  const listed = [...helps].map(([command, help]) => [command, listedOptions(help)]);
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(listed));
  expect(listedOptions(helps.get('train')!)).toContain('--grid');
});

test(`README.md has at most ${README_WORDS} words`, () => {
  const words = read('README.md')
    .replace(/<!--.*?-->/gs, '')
    .split(/\s+/)
    .filter(Boolean);
  expect(words.length).toBeLessThanOrEqual(README_WORDS);
});

test('the map of the code in docs/design.md has the folders of src and web, and no others', () => {
  const map = /^```\n(src\/.*?)^```/ms.exec(read('docs/design.md'))?.[1] ?? '';
  const named: Record<string, string[]> = {};
  let top = '';
  for (const line of map.split('\n')) {
    top = /^(\S+)\//.exec(line)?.[1] ?? top;
    const names = /^ {2}(\S+(?:, \S+)*)(?: {2}|$)/.exec(line)?.[1].split(', ') ?? [];
    named[top] = [...(named[top] ?? []), ...names];
  }
  const made = new Set(['generated']);
  for (const folder of ['src', 'web']) {
    const folders = readdirSync(join(root, folder), { withFileTypes: true })
      .filter((it) => it.isDirectory() && !made.has(it.name))
      .map(({ name }) => name);
    expect(named[folder]!.toSorted()).toEqual(folders.sort());
  }
});

test('docs/figures.md lists the figures of the page', () => {
  const ids = [...read('docs/figures.md').matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, id]) => id);
  expect(ids).toEqual(FIGURES.map(({ id }) => id));
});

test('docs/findings.md names figures of the page', () => {
  const named = [...read('docs/findings.md').matchAll(/\b[Ff]igures? ((?:`[a-z-]+`(?:, | and )?)+)/g)]
    .flatMap(([, list]) => [...list.matchAll(/`([a-z-]+)`/g)])
    .map(([, id]) => id);
  expect(named.length).toBeGreaterThan(15);
  const ids: string[] = FIGURES.map(({ id }) => id);
  expect(named.filter((id) => !ids.includes(id))).toEqual([]);
});

test('every file of docs is linked from README.md or another text', () => {
  const linked = new Set(
    texts.flatMap((path) =>
      [...read(path).matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(([, link]) => join(dirname(path), link)),
    ),
  );
  expect(texts.filter((path) => path !== 'README.md' && !linked.has(path))).toEqual([]);
});

test('package.json, CHANGELOG, CITATION and the example of the library name the same version', () => {
  const { version } = JSON.parse(read('package.json'));
  const [, newest, date] = read('CHANGELOG.md').match(/^## (\S+) \((\S+)\)$/m) ?? [];
  expect(newest).toBe(version);
  expect(read('docs/library.md')).toContain(`find_package(eigenscope ${version.replace(/\.\d+$/, '')} REQUIRED)`);
  expect(read('CITATION.cff')).toContain(`\nversion: ${version}\ndate-released: '${date}'\n`);
});
