import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { anyPermits } from '../../../testing/any-permits.ts';
import { openFetchWorld } from '../../../testing/fetch-world.ts';
import type { FetchWorld } from '../../../testing/fetch-world.ts';
import { answer } from '../../../testing/raw-origin.ts';
import type { Draft, Incoming } from '../../blobs/incoming.ts';
import { FetchFault } from '../fetch-fault.ts';

const WHOLE = '0123456789';
let world: FetchWorld;
beforeAll(async () => {
  world = await openFetchWorld();
});
afterAll(() => world.close());
afterEach(() => {
  expect(world.leftBehind()).toEqual([]);
});

/** Sends four of ten bytes, and the rest on request. */
function breaking(rest: string, first: readonly string[] = ['200 OK', 'etag: "1"', 'content-length: 10']): string {
  let asked = 0;
  return world.raw.url((socket) => {
    asked += 1;
    socket.end(asked === 1 ? answer(first, WHOLE.slice(0, 4)) : rest);
  });
}
const part = (range: string, body: string, ...more: readonly string[]): string =>
  answer(['206 Partial', `content-range: ${range}`, ...more], body);

describe('a transfer that broke off goes on', () => {
  test.each<[string, string]>([
    ['with the rest', part('bytes 4-9/10', '456789', 'etag: "1"', 'content-length: 6')],
    ['with the rest of a server that does not name it again', part('bytes 4-9/10', '456789')],
    ['with the rest in pieces', part('bytes 4-9/10', '6\r\n456789\r\n0\r\n\r\n', 'transfer-encoding: chunked')],
  ])('%s', async (_what, rest) => {
    expect(await world.fetchOf(breaking(rest), { resume: true })).toEqual({ bytes: Buffer.from(WHOLE) });
  });

  test.each<[string, string]>([
    ['from elsewhere', part('bytes 3-9/10', '3456789')],
    ['from the beginning', part('bytes 0-9/10', WHOLE)],
    ['of a part of the rest', part('bytes 4-6/10', '456', 'content-length: 3')],
    ['of a longer file', part('bytes 4-10/11', '456789a')],
    ['of a shorter file', part('bytes 4-8/9', '45678')],
    ['of a file of no known length', part('bytes 4-9/*', '456789')],
    ['with more than there is', part('bytes 4-12/10', '456789abc')],
    ['with less than it says', part('bytes 4-9/10', '45678')],
    ['with another length than its range', part('bytes 4-9/10', '45678', 'content-length: 5')],
    ['of another version', part('bytes 4-9/10', '456789', 'etag: "2"')],
    ['of a version that may be another', part('bytes 4-9/10', '456789', 'etag: W/"1"')],
    ['of two versions', part('bytes 4-9/10', '456789', 'etag: "1"', 'etag: "2"')],
    ['of two ranges', part('bytes 4-9/10', '456789', 'content-range: bytes 0-5/10')],
    ['of no range', answer(['206 Partial'], '456789')],
    ['of many ranges', answer(['206 Partial', 'content-type: multipart/byteranges; boundary=x'], '--x')],
    ['in other units', part('items 4-9/10', '456789')],
    ['of a negative range', part('bytes -4-9/10', '456789')],
    ['of a range in hexadecimal', part('bytes 0x4-9/10', '456789')],
    ['of a range beyond all numbers', part(`bytes 4-9/${'9'.repeat(30)}`, '456789')],
    ['compressed', part('bytes 4-9/10', '456789', 'content-encoding: gzip')],
    ['compressed for the way', part('bytes 4-9/10', '456789', 'transfer-encoding: gzip')],
    ['as a whole file', answer(['200 OK', 'etag: "1"', 'content-length: 10'], WHOLE)],
    ['as nothing', answer(['204 No'])],
    ['as a refusal', answer(['416 No', 'content-range: bytes */4'])],
    ['as an error', answer(['500 No'])],
    ['by a way to nowhere', answer(['302 Found', 'location: http://10.0.0.1/'])],
    ['by a way to a file', answer(['302 Found', 'location: file:///etc/passwd'])],
  ])('but not with a rest %s', async (_what, rest) => {
    expect(await world.fetchOf(breaking(rest), { resume: true })).toMatchObject({
      fault: { code: expect.stringMatching(/^(network|encoding|address|url)$/) },
    });
  });

  test('but not beyond the limit of bytes, even if its ranges claim more', async () => {
    const rest = part('bytes 4-1999/2000', 'x'.repeat(1996));

    expect(
      (
        await world.faultOf(breaking(rest, ['200 OK', 'etag: "1"', 'transfer-encoding: chunked']).replace('x', 'x'), {
          resume: true,
        })
      ).code,
    ).toMatch(/too_large|network/);
    expect((await world.faultOf(breaking(rest), { resume: true, bytesMax: 9 })).code).toBe('too_large');
  });
});

describe("what is not the sender's fault", () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' });
  const good = (): string => world.raw.url(answer(['200 OK'], WHOLE));
  const failing = (over: Partial<Draft>, discarded: () => void): Incoming => ({
    begin: async () => ({
      bytes: 0,
      append: async () => undefined,
      finish: () => Promise.reject(full),
      discard: async () => {
        discarded();
      },
      ...over,
    }),
    fill: () => Promise.reject(full),
  });

  test.each<[string, Partial<Draft>]>([
    ['written', { append: () => Promise.reject(full) }],
    ['written to its end', {}],
  ])(
    'is not said to be: a file that cannot be %s is our own trouble, and is not fetched again',
    async (_what, over) => {
      let discarded = 0;
      const before = world.raw.connections();

      await expect(
        world.fetchOf(good(), {
          resume: true,
          incoming: failing(over, () => {
            discarded += 1;
          }),
        }),
      ).rejects.toBe(full);
      expect([discarded, world.raw.connections() - before]).toEqual([1, 1]);
    },
  );

  test('leaves nothing running if the disk has no room for the file', async () => {
    const clock = fakeClock();
    let slept = 0;
    const counting = {
      ...clock,
      sleep: (ms: number, signal?: AbortSignal) => {
        slept += 1;
        return clock.sleep(ms, signal);
      },
    };

    await expect(
      world.fetchOf(good(), {
        clock: counting,
        incoming: { ...failing({}, () => undefined), begin: () => Promise.reject(full) },
      }),
    ).rejects.toBe(full);
    expect(slept).toBe(0);
  });

  test('is the end of the service, at any moment', async () => {
    const before = world.raw.connections();
    const stopping = new AbortController();
    stopping.abort();

    const fault = await world.faultOf(good(), { permits: anyPermits(stopping.signal) });
    expect(fault).toBeInstanceOf(FetchFault);
    expect(fault.code).toBe('busy');
    expect(world.raw.connections()).toBe(before);
  });
});
