import { percent, short } from '../../../charts/format';
import type { Attended } from '../../../engine/protocol';
import { referTo } from '../../../ui/registry';
import { KINDS, type Pattern } from './patterns';

/** What the mean entropy of a head's rows, over the log of their keys, says from a value on. */
const SHAPES = [
  { from: 0.9, name: 'nearly uniform', text: 'each query spreads its attention over nearly all keys' },
  { from: 0.6, name: 'broad', text: 'each query attends to many keys, some more than others' },
  { from: 0.2, name: 'sharp', text: 'each query attends to a few keys' },
  { from: -Infinity, name: 'nearly one-hot', text: 'each query attends to about one key' },
] as const;

/** Below this entropy the keys are few enough for their mean distance to say where they are. */
const FEW = 0.6;

const shapeOf = (entropy: number) => SHAPES.find(({ from }) => entropy >= from);

/**
 * What a head does on the typed text, in words, and on the passages where it does something else there;
 * '' where nothing is measured. `passages` is its entropy on those, NaN where it is not known.
 */
export function wordsOf(
  { entropy, distance }: Pick<Attended['heads'][number], 'entropy' | 'distance'>,
  pattern: Pattern | null,
  passages: number,
): string {
  const shape = shapeOf(entropy);
  if (!shape) return '';
  const keys = pattern
    ? `${percent(pattern.share)} of its attention goes to ${KINDS[pattern.kind].keys} ` +
      `(equal weights: ${percent(pattern.uniform)}). `
    : '';
  const away = entropy < FEW ? `, on average ${short(distance)} tokens away` : '';
  const own = `On this text the head is ${shape.name}: ${shape.text}${away} (entropy ${short(entropy)}).`;
  const there = shapeOf(passages);
  const other =
    there && there !== shape
      ? ` On the passages of ${referTo('predictors')} it is ${there.name} (entropy ${short(passages)}).`
      : '';
  return keys + own + other;
}

/** What a head attends to on the typed text, in a word or two: of its pattern, else of its entropy. */
export function briefOf(entropy: number, pattern: Pattern | null): string {
  return pattern ? KINDS[pattern.kind].brief : (shapeOf(entropy)?.name ?? '');
}

/** The marks that byte-level BPE and SentencePiece write for a space. */
const SPACE = /[Ġ▁]/g;

/** A token as it is shown, with a sign for a space. */
export function shown(token: string): string {
  return token.replace(SPACE, '␣');
}
