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
 * What the page needs to know of the operations while it runs: shares of the work, input fields with choices and
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

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '\\<');

const optionOf = (name) => `--${name.replaceAll('_', '-')}`;

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
    const kind = shape || (many ? 'list' : own.enum ? 'choice' : [own.type ?? 'bytes'].flat()[0]);
    const range = schema['x-range'] ? ` (${schema['x-range']})` : '';
    const meaning = `${schema.description}${range}${choicesOf(schema)}`;
    const row = `| \`${prefix}${name}${many}\` | ${kind} | ${cell(meaning)} |`;
    if (own.type !== 'object') return [row];
    return [row, ...resultRows(own.properties, `${prefix}${name}${many}.`)];
  });
}

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
  return listed && `Fields that only the page's job takes: ${listed}.\n`;
}

/** docs/commands.md: the options of every command, and what its operation gives. */
export function commandsOf(schema) {
  const parts = entries(schema['x-commands']).map(([name, { description, footer, options }]) => {
    const { input, result } = schema.properties[name]?.properties ?? {};
    return [
      `## ${name}\n`,
      `${description}.\n`,
      ...footerParts(footer),
      table(['option', 'meaning'], optionRows(options)),
      pageOnly(input?.properties ?? {}, options),
      table(['result', 'kind', 'meaning'], resultRows(result?.properties)),
    ]
      .filter((part) => part !== '')
      .join('\n');
  });
  return (
    '# Commands\n\n' +
    'The commands of the terminal with their options, as `eigenscope COMMAND --help` explains them. Those\n' +
    'that compute are jobs of the page too, with the same result unless the text before the options names\n' +
    'another, and with fields of input that are called like the options, with underscores. Results are\n' +
    'JSON; with `--csv` they are one table. This file is written by `npm run commands` from\n' +
    '`eigenscope schema`.\n\n' +
    parts.join('\n')
  );
}
