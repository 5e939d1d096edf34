#!/usr/bin/env node
/**
 * Writes src/text/unicode_packed.cpp from the Unicode of Node: .ci/unicode_tables.mjs > src/text/unicode_packed.cpp
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

function runs(pattern) {
  const found = [];
  for (const c of characters.filter((it) => pattern.test(text(it)))) {
    if (found.at(-1)?.[1] === c - 1) found.at(-1)[1] = c;
    else found.push([c, c]);
  }
  return found;
}

/** First, last, step and difference of the simple lower-casings. */
function lowerRuns() {
  const found = [];
  for (const c of assigned) {
    const lower = codes(text(c).toLowerCase());
    if (lower.length !== 1 || lower[0] === c) continue;
    const difference = lower[0] - c;
    const last = found.at(-1);
    const gap = last ? c - last[1] : 0;
    const goesOn = last?.[3] === difference && (gap === 1 || gap === 2) && (last[0] === last[1] || gap === last[2]);
    if (goesOn) found[found.length - 1] = [last[0], c, gap, difference];
    else found.push([c, c, 1, difference]);
  }
  return found;
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
  return canonical.filter(several).map(([c]) => [c, c]);
}

/**
 * Runs of equal canonical combining class, by its rank among the classes: reordering compares nothing else. The NFD of
 * two characters is swapped exactly when the class of the first is larger and that of the second is not 0.
 */
function combiningRuns() {
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
  const found = [];
  for (const c of combining) {
    const rank = 1 + classes.findIndex((it) => !swapped(c, it));
    const last = found.at(-1);
    if (last && last[1] === c - 1 && last[2] === rank) last[1] = c;
    else found.push([c, c, rank]);
  }
  return found;
}

const zigzag = (it) => (it < 0 ? -2 * it - 1 : 2 * it);

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Digits of 5 bits, the lowest first; all but the last have the highest bit. */
function digits(number) {
  return number < 32 ? DIGITS[number] : DIGITS[32 + (number % 32)] + digits(Math.floor(number / 32));
}

/** First character less the last one of the row before, length of the run, then other columns. */
function packedRuns(rows) {
  let before = 0;
  return rows.flatMap(([first, last, ...rest]) => {
    const numbers = [first - before, last - first, ...rest.map(zigzag)];
    before = last;
    return numbers.map(digits);
  });
}

/** Character less that of the row before, number of parts, and each part less that at its place in the row before. */
function packedDecompositions(rows) {
  let before = [0];
  return rows.flatMap((row) => {
    const parts = row.slice(1).map((it, k) => zigzag(it - (before[k + 1] ?? 0)));
    const numbers = [row[0] - before[0], parts.length, ...parts];
    before = row;
    return numbers.map(digits);
  });
}

const canonical = decompositions('NFD', (it) => it);
const compatible = decompositions('NFKD', (it) => it.normalize('NFD'));
const tables = [
  ['letters', packedRuns(runs(/\p{L}/u)), 'Categories L*.'],
  ['capital_letters', packedRuns(runs(/[\p{Lu}\p{Lt}]/u)), 'Categories Lu and Lt.'],
  ['small_letters', packedRuns(runs(/\p{Ll}/u)), 'Category Ll.'],
  ['numbers', packedRuns(runs(/\p{N}/u)), 'Categories N*.'],
  ['punctuation', packedRuns(runs(/\p{P}/u)), 'Categories P*.'],
  ['marks', packedRuns(runs(/\p{M}/u)), 'Categories M*.'],
  ['nonspacing_marks', packedRuns(runs(/\p{Mn}/u)), 'Category Mn.'],
  ['controls', packedRuns(runs(/[\p{Cc}\p{Cf}\p{Co}]/u)), 'Categories Cc, Cf and Co.'],
  ['lower', packedRuns(lowerRuns()), 'First, last, step, difference of the lower-case character.'],
  ['combining_classes', packedRuns(combiningRuns()), 'First, last, rank of the canonical combining class.'],
  ['canonical', packedDecompositions(canonical), 'NFD, except of Hangul syllables.'],
  ['compatible', packedDecompositions(compatible), 'NFKD, where it differs from NFD.'],
  ['excluded', packedRuns(excluded()), 'Composites that do not compose.'],
];
console.log(`// Generated by .ci/unicode_tables.mjs from Unicode ${process.versions.unicode}; not to be edited.
// clang-format off
#include "text/unicode_packed.h"

namespace eigenscope::unicode {`);
for (const [name, packed, comment] of tables) {
  const lines = packed.join('').match(/.{1,96}/g);
  console.log(`\n// ${comment}\nstd::string_view packed_${name}() {\n  return`);
  console.log(lines.map((it) => `"${it}"`).join('\n') + ';\n}');
}
console.log('\n}  // namespace eigenscope::unicode');
