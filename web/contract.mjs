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
  if (schema['x-content'] === 'bytes') return schema['x-nullable'] ? 'Uint8Array | null' : 'Uint8Array';
  if (schema['x-content'] === 'file') return schema['x-nullable'] ? 'Source | null' : 'Source';
  if (schema.enum) return union(schema.enum);
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ type }, indent)).join(' | ');
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
 * What the page needs to know of the operations while it runs: how the work is divided, input fields with choices, their
 * meanings and defaults, and the names behind the numbers in arrays of choices.
 */
export function factsOf({ properties }) {
  const rows = entries(properties).map(([name, operation]) => {
    const { properties: input } = operation.properties.input;
    const fields = entries(input);
    const having = (key) =>
      Object.fromEntries(fields.filter(([, field]) => key in field).map(([field, own]) => [field, own[key]]));
    const { 'x-partitions': partitions, 'x-joins': joins } = operation;
    const facts = { partitions, joins, fields: fields.map(([field]) => field) };
    const arrays = entries(operation.properties.result.properties).filter(
      ([, schema]) => schema['x-typed-array'] && namesOf(schema),
    );
    const names = Object.fromEntries(arrays.map(([field, schema]) => [field, namesOf(schema)]));
    const choices = having('x-labels');
    const meanings = Object.fromEntries(Object.keys(choices).map((field) => [field, input[field].description]));
    return [name, { ...facts, choices, meanings, defaults: having('default'), names }];
  });
  return Object.fromEntries(rows);
}

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '\\<');

const optionOf = (name) => `--${name.replaceAll('_', '-')}`;

/** A table, or nothing without rows. */
function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |\n`;
  return rows.length > 0 ? line(head) + line(head.map(() => '---')) + `${rows.join('\n')}\n` : '';
}

/** Rows for the options of a command, in the words of its help. */
function optionRows(options) {
  return entries(options).map(([name, { value, required, needs, excludes, description }]) => {
    const typed = name.startsWith('--') && value ? `${name} ${value}` : name;
    const conditions = [
      ...(required ? ['required'] : []),
      ...needs.map((other) => `needs \`${other}\``),
      ...excludes.map((other) => `excludes \`${other}\``),
    ];
    return `| \`${typed}\` | ${cell([description, ...conditions].join('; '))} |`;
  });
}

/** What follows the options in a command's help: sentences, and lines of examples. */
function footerParts(footer) {
  const lines = footer.split('\n').filter((line) => line && !/^Examples?:$/.test(line));
  const isExample = (line) => line.startsWith('  ');
  const examples = lines.filter(isExample).map((line) => `${line.slice(2)}\n`);
  return [
    lines
      .filter((line) => !isExample(line))
      .map((line) => `${line}\n`)
      .join(''),
    examples.length > 0 ? `\`\`\`sh\n${examples.join('')}\`\`\`\n` : '',
  ];
}

/** The fields of an operation that its command has no option for. */
function pageOnly(fields, options) {
  const names = Object.keys(fields).filter((name) => !(optionOf(name) in options));
  const listed = names.map((name) => `\`${name}\``).join(', ');
  return listed && `Input fields of the page's job only: ${listed}.\n`;
}

/** docs/commands.md: the options of every command. */
export function commandsOf(schema) {
  const parts = entries(schema['x-commands']).map(([name, { description, footer, options }]) => {
    const { input } = schema.properties[name]?.properties ?? {};
    return [
      `## ${name}\n`,
      `${description}.\n`,
      ...footerParts(footer),
      table(['option', 'meaning'], optionRows(options)),
      pageOnly(input?.properties ?? {}, options),
    ]
      .filter((part) => part !== '')
      .join('\n');
  });
  return (
    '# Commands\n\n' +
    'The options of every command, as `eigenscope COMMAND --help` explains them. `eigenscope schema` has\n' +
    'the fields of results. Results are JSON; with `--csv` they are one table, in which a text that a\n' +
    'spreadsheet would take for a formula has an apostrophe before it. A command that computes is\n' +
    'also a job of the page, with the same result unless the text before its options names another; its\n' +
    'input fields have the names of the options, with underscores. `npm run commands` writes this file.\n\n' +
    parts.join('\n')
  );
}
