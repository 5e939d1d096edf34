// What follows from `eigenscope schema`: the page's types and facts, and docs/commands.md.

/** The keys of an object that a person may read in this order. */
const entries = (object) => Object.entries(object ?? {});

function comment(text, indent) {
  return text ? `${indent}/** ${text[0].toUpperCase()}${text.slice(1)}. */\n` : '';
}

function union(values) {
  return values.map((value) => JSON.stringify(value)).join(' | ');
}

/** The TypeScript type of a field's schema. */
function typeOf(schema, indent) {
  if (schema['x-typed-array']) return schema['x-typed-array'];
  if (schema['x-content'] === 'bytes')
    return schema['x-nullable'] ? 'Uint8Array | null' : 'Uint8Array';
  if (schema['x-content'] === 'file') return schema['x-nullable'] ? 'Source | null' : 'Source';
  if (schema.enum) return union(schema.enum);
  if (Array.isArray(schema.type))
    return schema.type.map((type) => typeOf({ type }, indent)).join(' | ');
  if (schema.type === 'integer') return 'number';
  if (schema.type === 'array') {
    const inner = typeOf(schema.items, indent).replace(' | null', '');
    if (inner === 'number') return 'ArrayLike<number>';
    return inner.includes('|') ? `(${inner})[]` : `${inner}[]`;
  }
  if (schema.type === 'object') return objectOf(schema, indent);
  return schema.type;
}

function objectOf({ properties, additionalProperties }, indent) {
  // What has a default may be left out: then it is an input.
  const mark = additionalProperties === false ? '?' : '';
  const lines = entries(properties).map(
    ([name, schema]) =>
      `${comment(schema.description, `${indent}  `)}${indent}  ${name}${mark}: ${typeOf(schema, `${indent}  `)};\n`,
  );
  return `{\n${lines.join('')}${indent}}`;
}

/** Inputs and outputs of the operations as TypeScript. */
export function typesOf({ properties }) {
  const rows = entries(properties).map(
    ([name, { description, properties: own }]) =>
      `${comment(description, '  ')}  ${JSON.stringify(name)}: {\n` +
      `    input: ${objectOf(own.input, '    ')};\n` +
      `    output: ${objectOf(own.result, '    ')};\n  };\n`,
  );
  const source = rows.some((row) => row.includes('Source'));
  return (
    '// Written by `npm run generate` from `eigenscope schema`.\n' +
    (source ? "import type { Source } from '../engine/protocol';\n\n" : '\n') +
    `export interface Operations {\n${rows.join('')}}\n`
  );
}

/** The names of the choices in an array of them, or none. */
const namesOf = (schema) => schema.enum ?? (schema.items && namesOf(schema.items));

/**
 * What the page needs to know of the operations while it runs: modules, shares of the work, input fields with choices and
 * defaults, and the names behind the numbers in arrays of choices.
 */
export function factsOf({ properties }) {
  const rows = entries(properties).map(([name, operation]) => {
    const fields = entries(operation.properties.input.properties);
    const having = (key) =>
      Object.fromEntries(
        fields.filter(([, field]) => key in field).map(([field, own]) => [field, own[key]]),
      );
    const facts = {
      module: operation['x-module'],
      shares: operation['x-shares'],
      fields: fields.map(([field]) => field),
    };
    const arrays = entries(operation.properties.result.properties).filter(
      ([, schema]) => schema['x-typed-array'] && namesOf(schema),
    );
    const names = Object.fromEntries(arrays.map(([field, schema]) => [field, namesOf(schema)]));
    return [name, { ...facts, choices: having('x-labels'), defaults: having('default'), names }];
  });
  return Object.fromEntries(rows);
}

const optionOf = (name) => `--${name.replaceAll('_', '-')}`;
const cell = (text) => String(text).replaceAll('|', '\\|');

/** The values that an input field allows, in words. */
function valuesOf(schema) {
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ');
  if (schema['x-content'] === 'bytes') return 'a file';
  if (schema['x-content'] || schema.items?.['x-content']) return 'files of the checkpoint';
  const own = schema.type === 'array' ? schema.items : schema;
  const kind = [own.type].flat()[0];
  if (kind === 'boolean') return 'flag';
  if (kind === 'string') return 'text';
  const low = 'minimum' in own ? `from ${own.minimum}` : `above ${own.exclusiveMinimum}`;
  const high = 'maximum' in own ? `to ${own.maximum}` : `below ${own.exclusiveMaximum}`;
  const range = `${kind === 'integer' ? 'integer' : 'number'} ${low} ${high}`;
  return schema.type === 'array' ? `list, each ${range}` : range;
}

function defaultOf(schema) {
  if (schema['x-default']) return schema['x-default'];
  const value = schema.default;
  if (value === undefined || value === false || value.length === 0) return '';
  return `\`${value}\``;
}

/** The choices of a result field or of an array of them, in words. */
function choicesOf(schema) {
  if (!schema.enum) return schema.items ? choicesOf(schema.items) : '';
  const named = schema.enum.map((name) => {
    const label = schema['x-labels'][name];
    return label ? `\`${name}\` (${label})` : `\`${name}\``;
  });
  return `: ${named.join(', ')}`;
}

/** Rows of a table for the fields of a result; those of objects and lists follow theirs. */
function resultRows(properties, prefix = '') {
  return entries(properties).flatMap(([name, schema]) => {
    const own = schema.type === 'array' && schema.items.type === 'object' ? schema.items : schema;
    const many = own !== schema ? '[]' : '';
    const shape = schema['x-shape'] ? `array over ${schema['x-shape'].join(' × ')}` : '';
    const ranged = 'minimum' in own || 'exclusiveMinimum' in own ? valuesOf(own) : '';
    const kind =
      shape || ranged || (many ? 'list' : own.enum ? 'choice' : [own.type ?? 'bytes'].flat()[0]);
    const meaning = `${schema.description}${choicesOf(schema)}`;
    const row = `| \`${prefix}${name}${many}\` | ${kind} | ${cell(meaning)} |`;
    if (own.type !== 'object') return [row];
    return [row, ...resultRows(own.properties, `${prefix}${name}${many}.`)];
  });
}

/** docs/commands.md: what every operation takes and gives. */
export function commandsOf({ properties }) {
  const parts = entries(properties).map(([name, operation]) => {
    const { input, result } = operation.properties;
    const inputs = entries(input.properties).map(
      ([field, schema]) =>
        `| \`${optionOf(field)}\` | ${cell(valuesOf(schema))} | ${cell(defaultOf(schema))} | ` +
        `${cell(schema.description)} |`,
    );
    return [
      `## ${name}\n`,
      `${operation.description}.\n`,
      `\`\`\`sh\n${operation['x-example']}\n\`\`\`\n`,
      `| option | values | default | meaning |\n| --- | --- | --- | --- |\n${inputs.join('\n')}\n`,
      `| result | kind | meaning |\n| --- | --- | --- |\n${resultRows(result.properties).join('\n')}\n`,
    ].join('\n');
  });
  return (
    '# Commands\n\n' +
    'Each operation is a command of the terminal and a job of the page, with the same fields of its input\n' +
    'and its result. Results are JSON; with `--csv` they are one table. This file is written by\n' +
    '`npm run commands` from `eigenscope schema`.\n\n' +
    parts.join('\n')
  );
}
