import { expect, test } from 'vitest';
import { isText, textOf, utf8Of } from '../../web/chapters/shared/text-source';

/** Characters of two bytes at odd places: a cut at an even place is within one. */
const long = new File(['a', 'é'.repeat(8e6), 'and more'], 'long.txt');

test('a long text is cut between characters', async () => {
  const { name, bytes } = await textOf(long);
  expect(name).toBe('long.txt, first 16 MB');
  expect(bytes).toHaveLength(16e6 - 1);
  expect(isText(bytes)).toBe(true);
});

test('what is not UTF-8 is no text for a tokenizer, and nothing is no text', async () => {
  const bytes = new Uint8Array([0x61, 0xff]);
  expect((await textOf(new File([bytes], 'bytes'))).bytes).toEqual(bytes);
  await expect(utf8Of(new File([bytes], 'bytes'))).rejects.toThrow('the text must be UTF-8');
  await expect(textOf(new File([], 'none'))).rejects.toThrow('the text must have at least 1 byte: it has 0');
});
