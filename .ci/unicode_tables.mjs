#!/usr/bin/env node
/**
 * Writes src/text/unicode_packed.h from the Unicode of Node: .ci/unicode_tables.mjs > src/text/unicode_packed.h
 *
 * A table is packed to a fifth of its size: differences from the row before, in base64 digits of 5 bits, the lowest
 * first, as in source maps.
 */
const LAST = 0x110000;
const HANGUL = [0xac00, 0xd7a3]; // decomposes by arithmetic
const characters = [...Array(LAST).keys()].filter((c) => c < 0xd800 || c > 0xdfff);
const text = (c) => String.fromCodePoint(c);
const codes = (string) => [...string].map((it) => it.codePointAt(0));
const assigned = characters.filter((c) => !/\p{Cn}/u.test(text(c)));

/**
 * General categories, the frequent ones first, or what is left of a letter's categories ("M" without Mn). Cc stands
 * twice, the second time for its white space; LuLl is Lu and Ll in turn, as in most scripts with cases.
 */
const CATEGORIES = ['Lo', 'Mn', 'S', 'P', 'Ll', 'Lu', 'LuLl', 'M', 'Nd', 'N', 'Lm', 'Cf', 'Z', 'Cc', 'Cc', 'Co', 'Lt'];
const WHITE_SPACE = CATEGORIES.lastIndexOf('Cc');
const CASED = CATEGORIES.indexOf('LuLl');

/** Assigned characters with their places in CATEGORIES. */
function categories() {
  const members = CATEGORIES.map((it) => (it === 'LuLl' ? /[^\s\S]/ : new RegExp(`\\p{${it}}`, 'u')));
  const place = (c) => {
    const first = members.findIndex((it) => it.test(text(c)));
    return CATEGORIES[first] === 'Cc' && /[\s\x85]/.test(text(c)) ? WHITE_SPACE : first;
  };
  const rows = assigned.map((c) => [c, place(c)]);
  const isCased = (k, start) => {
    const [c, category] = rows[k];
    return c - rows[start][0] === k - start && CATEGORIES[category] === ((k - start) % 2 === 0 ? 'Lu' : 'Ll');
  };
  for (let start = 0, end; start < rows.length; start = end) {
    for (end = start; end < rows.length && isCased(end, start); ++end);
    if (end - start > 1) for (const row of rows.slice(start, end)) row[1] = CASED;
    else end = start + 1;
  }
  return rows;
}

/** Characters with the difference of their simple lower-case forms. */
function lowerCase() {
  const pairs = assigned.map((c) => [c, codes(text(c).toLowerCase())]);
  return pairs.filter(([c, lower]) => lower.length === 1 && lower[0] !== c).map(([c, lower]) => [c, lower[0] - c]);
}

/** Characters with their full decompositions of a form, where it differs from the one without. */
function decompositions(form, otherwise) {
  const own = assigned.filter((c) => c < HANGUL[0] || c > HANGUL[1]);
  const changed = own.filter((c) => text(c).normalize(form) !== otherwise(text(c)));
  return changed.map((c) => [c, ...codes(text(c).normalize(form))]);
}

/** Characters with a decomposition to several others that these do not compose to. */
function excluded() {
  const several = ([c, ...parts]) => parts.length > 1 && text(c).normalize('NFC') !== text(c);
  return canonical.filter(several).map(([c]) => [c]);
}

/**
 * Characters with the rank of their canonical combining class among the classes: reordering compares nothing else. The
 * NFD of two characters is swapped exactly when the class of the first is larger and that of the second is not 0.
 */
function combiningRanks() {
  const swapped = (a, b) => (text(a) + text(b)).normalize('NFD') !== text(a) + text(b);
  const whole = assigned.filter((c) => /\p{M}/u.test(text(c)) && text(c).normalize('NFD') === text(c));
  const LARGEST = 0x345; // class 240
  const combining = whole.filter((c) => c === LARGEST || swapped(LARGEST, c));
  const classes = []; // one character of each class, ascending
  for (const c of combining) {
    const at = classes.findIndex((it) => !swapped(c, it));
    if (at < 0) classes.push(c);
    else if (swapped(classes[at], c)) classes.splice(at, 0, c);
  }
  return combining.map((c) => [c, 1 + classes.findIndex((it) => !swapped(c, it))]);
}

const zigzag = (it) => (it < 0 ? -2 * it - 1 : 2 * it);

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Digits of 5 bits, the lowest first; all but the last have the highest bit. */
function digits(number) {
  return number < 32 ? DIGITS[number] : DIGITS[32 + (number % 32)] + digits(Math.floor(number / 32));
}

/** Characters in a row, or every second one, with the same value if they have one. */
function packedRuns(rows) {
  const runs = [];
  for (const [c, value] of rows) {
    const run = runs.at(-1);
    const step = run && c - run.last;
    const fits = run && (run.first === run.last ? step <= 2 : step === run.step);
    if (fits && run.value === value) Object.assign(run, { last: c, step });
    else runs.push({ first: c, last: c, step: 1, value });
  }
  let before = 0;
  return runs.flatMap(({ first, last, step, value }) => {
    const numbers = [first - before, (2 * (last - first)) / step + step - 1];
    before = last;
    return [...numbers, ...(value === undefined ? [] : [zigzag(value)])].map(digits);
  });
}

/** By column, since a column's numbers are alike and so compress better. */
function packedDecompositions(rows) {
  const differences = rows.map(([c, ...parts], k) => {
    const [before, ...others] = rows[k - 1] ?? [0];
    return [c - before, ...parts.map((it, i) => zigzag(it - (others[i] ?? 0)))];
  });
  const characters = [];
  const lengths = [];
  const repeats = [];
  const parts = [[], [], []];
  for (let k = 0, end; k < rows.length; k = end) {
    const [character, ...own] = differences[k];
    end = k + 1;
    while (String(differences[end]) === String(differences[k])) ++end;
    const more = end - k > 1 ? [end - k - 2] : [];
    characters.push(character);
    lengths.push(2 * own.length + more.length);
    repeats.push(...more);
    own.forEach((it, place) => parts[Math.min(place, parts.length - 1)].push(it));
  }
  return [characters, lengths, repeats, ...parts].map((column) => column.map(digits).join(''));
}

const canonical = decompositions('NFD', (it) => it);
const compatible = decompositions('NFKD', (it) => it.normalize('NFD'));
const runs = [
  ['Categories', packedRuns(categories())],
  ['Han', packedRuns(assigned.filter((c) => /\p{Script=Han}/u.test(text(c))).map((c) => [c]))],
  ['Lower', packedRuns(lowerCase())],
  ['CombiningClasses', packedRuns(combiningRanks())],
  ['NotComposed', packedRuns(excluded())],
];
const decomposed = [
  ['Canonical', packedDecompositions(canonical)],
  ['Compatible', packedDecompositions(compatible)],
];
console.log(`// Generated by .ci/unicode_tables.mjs from Unicode ${process.versions.unicode}; not to be edited.
// The tables of unicode.cpp: numbers in base64 digits of 5 bits, the lowest first; all digits but the last of a
// number have the highest bit. Signed numbers are zigzag.
//
// Runs: first character less the last one of the row before; twice the number of further characters, plus 1 where every
// second one is meant; the value, in tables that have one (signed).
//
// Decompositions, by column: character less that of the row before; twice the number of parts, plus 1 where more rows
// with the same differences follow; the number of those further rows less 1; then the first parts, the second ones and
// the others, each less that at its place in the row before, or less 0 where that row is shorter (signed).
// clang-format off
#pragma once

#include <array>
#include <string_view>

namespace eigenscope::unicode::packed {

/// The categories that the values of kCategories number.
inline constexpr std::array<std::string_view, ${CATEGORIES.length}> kCategoryNames{
${CATEGORIES.map((it) => `"${it}"`).join(', ')}};`);
const literal = (digits) =>
  digits
    .match(/.{1,96}/g)
    .map((it) => `"${it}"`)
    .join('\n');
for (const [name, digits] of runs) {
  console.log(`\ninline constexpr std::string_view k${name} =\n${literal(digits.join(''))};`);
}
for (const [name, columns] of decomposed) {
  console.log(`\ninline constexpr std::array<std::string_view, ${columns.length}> k${name}{`);
  console.log(columns.map(literal).join(',\n') + '};');
}
console.log('\n}  // namespace eigenscope::unicode::packed');
