// What follows from the one declaration of every operation.
import { describe, expect, test } from 'vitest';
import { expectRefused, helpTexts, json, MINILM, raw, root } from './eigenscope.ts';

interface Field {
  description: string;
  default?: unknown;
  enum?: string[];
  properties?: Fields;
  items?: { properties?: Fields };
}
type Fields = Record<string, Field>;
interface Operation {
  description: string;
  properties: Record<'input' | 'result', { properties: Fields }>;
}
const schema = json('schema') as {
  properties: Record<string, Operation>;
  'x-commands': Record<string, { footer: string }>;
};
const helps = helpTexts();
const operations = Object.entries(schema.properties);

/** Fields with those of their objects and lists. */
function all(fields: Fields): [string, Field][] {
  return Object.entries(fields).flatMap(([name, field]) => [
    [name, field],
    ...all(field.properties ?? field.items?.properties ?? {}),
  ]);
}

describe.each(operations)('%s', (name, { description, properties }) => {
  const { input, result } = properties;

  test('has a meaning, an example, and a meaning for every field', () => {
    expect(description).not.toBe('');
    expect(schema['x-commands'][name]!.footer).toContain(`  eigenscope ${name}`);
    const fields = [...all(input.properties), ...all(result.properties)];
    expect(fields.length).toBeGreaterThan(1);
    for (const [field, own] of fields) expect(['', field], field).not.toContain(own.description);
  });

  test('has a command whose help names its options', () => {
    const help = helps.get(name);
    expect(help).toContain(`eigenscope ${name} `);
    for (const [field, { enum: names }] of Object.entries(input.properties)) {
      if (names) expect(help).toContain(`--${field.replaceAll('_', '-')}`);
      for (const choice of names ?? []) expect(help).toContain(choice);
    }
  });

  const choices = Object.entries(input.properties).filter(([, field]) => field.enum);
  const model = 'model' in input.properties ? [MINILM] : [];
  const text = name === 'train' ? ['--text', `${root}LICENSE`] : []; // shorter than its default
  const changed = 'changed' in input.properties ? ['--changed', MINILM] : [];
  const mapped = 'map_query' in input.properties ? ['--map-query', 'w.{n}'] : [];

  test.skipIf(choices.length === 0)('refuses an unknown choice by its field', () => {
    for (const [field, { enum: names }] of choices) {
      expectRefused(
        raw(name, ...model, ...changed, ...text, ...mapped, `--${field.replaceAll('_', '-')}`, 'nothing'),
        `must be one of ${names!.join(', ')}: found 'nothing'`,
      );
    }
  });
});
