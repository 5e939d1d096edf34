// Tables in Markdown, and their places in a page: between `<!-- name -->` and `<!-- end -->`.

/** A table: titles (an array, or a text with ' | ' between them), and rows of cells. */
export function table(titles, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const names = typeof titles === 'string' ? titles.split(' | ') : titles;
  return [line(names), `|${'---|'.repeat(names.length)}`, ...rows.map(line)].join('\n');
}

/** Lines as they are, for commands. */
export const verbatim = (lines) => ['```', ...lines, '```'].join('\n');

/** A number to so many digits after the point; `none` for what is not defined. */
export const written = (value, digits = 3, none = '–') =>
  value === null || value === undefined ? none : value.toFixed(digits);

/** Rank correlation and mean absolute error of a measure, from a row of a summary of `eigenscope predict`. */
export const agreement = (row, measure) =>
  `${written(row[`${measure}_rank_correlation`])} / ${written(row[`${measure}_mean_absolute_error`])}`;

/** A page with those tables made anew for which it has a place; throws for a place without a table or without an end. */
export function withTables(page, made) {
  const lacksEnd = (name) => new Error(`'<!-- ${name} -->' must be followed by '<!-- end -->'`);
  const written = new Set();
  const next = page.replace(/<!-- (\S.*?) -->\n([^]*?)\n<!-- end -->/g, (_, name, old) => {
    if (/<!-- [^=]/.test(old)) throw lacksEnd(name);
    if (!(name in made)) throw new Error(`no table for '${name}'`);
    written.add(name);
    return `<!-- ${name} -->\n\n${made[name]}\n\n<!-- end -->`;
  });
  for (const name of Object.keys(made)) {
    if (page.includes(`<!-- ${name} -->`) && !written.has(name)) throw lacksEnd(name);
  }
  return next;
}

const NUMBER = /(?:p < )?[-−+]?\d+(?:\.\d+)?/g;
const WORDS = ['none', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

/** A count as a word where there is one. */
export const word = (count) => WORDS[count] ?? String(count);

/** Words in sentences that results decide, the longer ones first. */
const DECIDED = [
  [...WORDS, '\\d+'],
  ['not confirmed', 'confirmed', 'refuted', 'open'],
  ['about as much', 'more', 'less'],
];

/** What may have stood in the place of a text before: other numbers, other counts, another verdict. */
function formOf(text) {
  const decided = DECIDED.find((words) => words.includes(text));
  if (decided) return `(?:${decided.join('|')})`;
  const plain = text.replace(/^p (?:< )?/, '');
  const number = '[-−+]?\\d+(?:\\.\\d+)?';
  const form = plain.split(NUMBER).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return (plain === text ? '' : 'p (?:< )?') + form.join(number);
}

/** '' for what is not there. */
export const shown = (value, digits) => written(value, digits, '');

/** An interval, "-0.297 to -0.206"; '' for none. */
export const intervalText = ({ low, high }, digits = 3) =>
  (low ?? null) === null ? '' : `${written(low, digits)} to ${written(high, digits)}`;

/** A p value in a table. */
export const probability = (p) => ((p ?? null) !== null && p < 0.001 ? '< 0.001' : shown(p, 3));

export const code = (text) => `\`${text}\``;

/** For `withNumbers`: the value of an estimate, and under `NAME-interval` its interval. */
export const estimated = (name, of, digits, value = 'value') => ({
  [name]: (...args) => written(of(...args)[value], digits),
  [`${name}-interval`]: (...args) => intervalText(of(...args), digits),
});

/** Nothing, before a sentence that a results file would refute if `holds` were false. */
export function claimed(holds, what) {
  if (!holds) throw new Error(`the results no longer say that ${what}: write the sentence anew`);
  return '';
}

/**
 * A page with its numbers made anew. A comment `<!--=gain frobenius-m1 0.02-->` before a number names what it
 * is: a function of `numbers` with its arguments, which returns the text.
 */
export function withNumbers(page, numbers) {
  let rest = page;
  let text = '';
  for (;;) {
    const found = /<!--=([\w-]+?)( .*?)?-->/.exec(rest);
    if (!found) return text + rest;
    const [marker, name, args = ''] = found;
    if (!(name in numbers)) throw new Error(`no number '${name}' of ${marker}`);
    const value = numbers[name](...args.split(' ').filter(Boolean));
    const after = rest.slice(found.index + marker.length);
    const old = new RegExp(`^${formOf(value)}`).exec(after);
    if (!old) throw new Error(`after ${marker} must stand a text like '${value}': ${after.slice(0, 30)}`);
    text += rest.slice(0, found.index) + marker + value;
    rest = after.slice(old[0].length);
  }
}

/** Of the numbers among some values, of which some may be null. */
export function median(values) {
  const sorted = values.filter((it) => it !== null).sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

/** A number with the digits that tables and comparisons need. */
export const rounded = (value) => (typeof value === 'number' ? Number(value.toFixed(6)) : value);

/** Those fields of a row that match. */
export const picked = (row, kept) =>
  Object.fromEntries(
    Object.entries(row)
      .filter(([name]) => kept.test(name))
      .map(([name, value]) => [name, rounded(value)]),
  );

/** JSON with a line for each row of a list. */
export function jsonLines(value) {
  const hasList = (it) => it && typeof it === 'object' && Object.values(it).some(Array.isArray);
  if (Array.isArray(value) && typeof value[0] === 'object')
    return `[\n${value.map((it) => (hasList(it) ? jsonLines(it) : JSON.stringify(it))).join(',\n')}\n]`;
  if (!hasList(value)) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}:${jsonLines(part)}`);
  return `{\n${fields.join(',\n')}\n}`;
}
