// Sentences for a model to read, each with what one head of the sample does on it; tests/unit/patterns.test.ts.
import type { KindName } from './head-patterns';

export interface Example {
  /** What its button says. */
  name: string;
  /** The kind of keys that the head attends to; 'all' where its attention is the most uniform. */
  find: KindName | 'all';
  reading: string;
}

export const EXAMPLES: readonly Example[] = [
  { name: 'Previous token', find: 'previous', reading: 'When does attention localize?' },
  { name: 'Next token', find: 'next', reading: 'To be, or not to be, that is the question.' },
  { name: 'Repeated words', find: 'repeated', reading: 'New York is not Boston, and Boston is not New York.' },
  { name: 'Attention sink', find: 'first', reading: 'The quick brown fox jumps over the lazy dog.' },
  { name: 'Punctuation', find: 'punctuation', reading: 'A small whale followed the ship; the ship did not stop.' },
  { name: 'All keys alike', find: 'all', reading: 'It was the best of times, it was the worst of times.' },
];
