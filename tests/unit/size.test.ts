import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { viewNames } from '../../web/chapters/views';
import { chapterHtml } from '../../web/plugins/partials.mts';
import { elementsIn } from '../../web/plugins/markup.mts';
import { MOST, MOST_LATER, sizes } from '../page-size';

test('the first screen with its engine and the script of the other chapters are small enough', () => {
  const { page, engine, later } = sizes();
  expect(page + engine).toBeLessThan(MOST);
  expect(later).toBeLessThan(MOST_LATER);
});

test('the sections of chapters whose markup comes later have the attributes and name the places of their markup', () => {
  const panels = elementsIn(readFileSync('dist/index.html', 'utf8'), 'section').filter(
    ({ attributes }) => attributes.role,
  );
  expect(panels.map(({ attributes }) => attributes.id)).toEqual(viewNames);
  for (const { attributes, inner } of panels.slice(1)) {
    const html = chapterHtml(attributes.id!);
    const { 'data-places': places, ...own } = attributes;
    expect(own).toEqual(elementsIn(html, 'section')[0]!.attributes);
    expect(inner).toBe('');
    const headings = [...html.matchAll(/<h2 id="([^"]+)"/g)].map(([, id]) => id!);
    expect(places!.split(' ')).toEqual(expect.arrayContaining(headings.filter((id) => !id.startsWith('title-'))));
  }
});

test('a Space has all that its page names, and the front matter of a static one', () => {
  const { status, stderr } = spawnSync('node', ['.ci/space/make.mjs'], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const [, front] = readFileSync('build/space/README.md', 'utf8').split('---\n');
  expect(front).toMatch(/^sdk: static$/m);
  const [, page] = /^app_file: (.+)$/m.exec(front!)!;
  const html = readFileSync(`build/space/${page}`, 'utf8');
  const named = [...html.matchAll(/(?:src|href)="(\.\/assets\/[^"]+)"/g)].map(([, name]) => name!);
  expect(named.length).toBeGreaterThan(1);
  for (const name of named) expect(statSync(`build/space/${name}`).size).toBeGreaterThan(0);
  expect(readdirSync('build/space/assets')).toEqual(readdirSync('dist/assets'));
});

test('results files hold what docs and page show, no more', () => {
  const files = ['web/results/experiments', 'web/results'].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => `${folder}/${name}`),
  );
  const bytes = files.map((name) => statSync(name).size);
  files.forEach((name, i) => expect(bytes[i], name).toBeLessThan(400_000));
  expect(bytes.reduce((sum, it) => sum + it, 0)).toBeLessThan(1_500_000);
});
