import { afterEach, expect, test, vi } from 'vitest';
import { load } from '../../web/engine/shipped';
import { sampleFiles } from '../../web/chapters/model/reading/samples';
import { resultsFiles } from '../../web/chapters/train/experiments/files';

afterEach(() => vi.unstubAllGlobals());

test.each([...sampleFiles, ...resultsFiles])(
  'the message that the $name is missing is one sentence about one file',
  async (file) => {
    vi.stubGlobal('fetch', () => Promise.resolve(new Response(null, { status: 404 })));
    await expect(load(file)).rejects.toThrow(
      /^Cannot load the (\w+ )?file of .*: the host answered .* with status 404\./,
    );
  },
);
