// `npm run presets`: prints the numbers behind the sentences of the section on collapse, with their
// standard errors, and writes them into web/index.html.
import { writeFileSync } from 'node:fs';
import { test } from 'vitest';
import { computed, holds, PAGE, pageSource, presetsOf, rewritten, written } from './presets.ts';

test('the numbers behind the sentences', () => {
  const html = pageSource();
  const all = {};
  const lines = ['| stack | measure | layer | value | standard error |', '|---|---|---|---|---|'];
  for (const preset of presetsOf(html)) {
    const numbers = computed(preset);
    Object.assign(all, numbers);
    for (const { stack, measure, layer } of preset.quotes) {
      const value = numbers[stack]![measure][layer]!;
      const error = numbers[stack]![`${measure}_error`][layer] ?? 0;
      lines.push(`| ${stack} | ${measure} | ${layer} | ${written(value)} | ${written(error)} |`);
    }
    lines.push(`${holds(preset, numbers) ? 'true' : 'FALSE'}: ${preset.claim}`, '');
  }
  console.log(lines.join('\n'));
  writeFileSync(PAGE, rewritten(html, all));
});
