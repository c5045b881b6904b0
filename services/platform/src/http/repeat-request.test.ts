import { expect, test } from '@jest/globals';
import { isUnreachable } from '../unreachable.ts';
import { repeatRequest } from './repeat-request.ts';

const AT_ONCE = { sleep: async () => undefined };
const failedWith = (code: string): Error => Object.assign(new Error(code), { code });

/** Makes a request that fails with each of these errors in turn, and then succeeds. Gives how it ended, and its tries. */
async function made(errors: readonly Error[], options: Parameters<typeof repeatRequest>[1] = {}) {
  let tries = 0;
  const ended = await repeatRequest(
    async () => {
      const error = errors[(tries += 1) - 1];
      if (error !== undefined) throw error;
      return 'answered';
    },
    { clock: AT_ONCE, ...options },
  ).catch((error: unknown) => (error as Error).message);
  return [ended, tries];
}

test.each(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])(
  'a read is made again after %s, three times at most',
  async (code) => {
    const error = failedWith(code);

    expect(await made([error])).toEqual(['answered', 2]);
    expect(await made([error, error, error])).toEqual(['answered', 4]);
    expect(await made([error, error, error, error, error])).toEqual([code, 4]);
  },
);

test.each(['UND_ERR_HEADERS_TIMEOUT', 'any other'])('a read is not made again after %s', async (code) => {
  expect(await made([failedWith(code)])).toEqual([code, 1]);
});

test('a change is made again only if it was never sent', async () => {
  const change = { mayRepeat: isUnreachable };

  expect(await made([failedWith('ECONNREFUSED')], change)).toEqual(['answered', 2]);
  expect(await made([failedWith('ECONNRESET')], change)).toEqual(['ECONNRESET', 1]);
});

test('nothing is made again for a caller that has left', async () => {
  expect(await made([failedWith('ECONNRESET')], { signal: AbortSignal.abort() })).toEqual(['ECONNRESET', 1]);
});
