import { describe, expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { anyPermits } from '../../../testing/any-permits.ts';
import { fetchWorldOfTests } from '../../../testing/fetch-world.ts';
import { answer } from '../../../testing/raw-origin.ts';
import type { Draft, IncomingFolder } from '../../blobs/incoming.ts';
import { FetchFault } from '../../domain/fetch-fault.ts';

const WHOLE = '0123456789';
const world = await fetchWorldOfTests();

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

describe('a broken transfer continues', () => {
  test.each<[string, string]>([
    ['with the rest', part('bytes 4-9/10', '456789', 'etag: "1"', 'content-length: 6')],
    ['with a rest without an ETag', part('bytes 4-9/10', '456789')],
    ['with the rest in pieces', part('bytes 4-9/10', '6\r\n456789\r\n0\r\n\r\n', 'transfer-encoding: chunked')],
  ])('%s', async (_what, rest) => {
    expect(await world.fetchOf(breaking(rest), { resume: true })).toEqual({ bytes: Buffer.from(WHOLE) });
  });

  test.each<[string, string]>([
    ['from another offset', part('bytes 3-9/10', '3456789')],
    ['from the beginning', part('bytes 0-9/10', WHOLE)],
    ['of a part of the rest', part('bytes 4-6/10', '456', 'content-length: 3')],
    ['of a longer file', part('bytes 4-10/11', '456789a')],
    ['of a shorter file', part('bytes 4-8/9', '45678')],
    ['of a file of no known length', part('bytes 4-9/*', '456789')],
    ['beyond the end of the file', part('bytes 4-12/10', '456789abc')],
    ['shorter than its range', part('bytes 4-9/10', '45678')],
    ['whose length differs from its range', part('bytes 4-9/10', '45678', 'content-length: 5')],
    ['of another version', part('bytes 4-9/10', '456789', 'etag: "2"')],
    ['with a weak ETag', part('bytes 4-9/10', '456789', 'etag: W/"1"')],
    ['with two ETags', part('bytes 4-9/10', '456789', 'etag: "1"', 'etag: "2"')],
    ['with two ranges', part('bytes 4-9/10', '456789', 'content-range: bytes 0-5/10')],
    ['without a range', answer(['206 Partial'], '456789')],
    ['with many ranges', answer(['206 Partial', 'content-type: multipart/byteranges; boundary=x'], '--x')],
    ['in other units', part('items 4-9/10', '456789')],
    ['with a negative range', part('bytes -4-9/10', '456789')],
    ['with a range in hexadecimal', part('bytes 0x4-9/10', '456789')],
    ['with a range of very large numbers', part(`bytes 4-9/${'9'.repeat(30)}`, '456789')],
    ['compressed', part('bytes 4-9/10', '456789', 'content-encoding: gzip')],
    ['compressed for transport', part('bytes 4-9/10', '456789', 'transfer-encoding: gzip')],
    ['as a whole file', answer(['200 OK', 'etag: "1"', 'content-length: 10'], WHOLE)],
    ['as an empty answer', answer(['204 No'])],
    ['as a refusal', answer(['416 No', 'content-range: bytes */4'])],
    ['as an error', answer(['500 No'])],
    ['behind a redirect to a private address', answer(['302 Found', 'location: http://10.0.0.1/'])],
    ['behind a redirect to a file', answer(['302 Found', 'location: file:///etc/passwd'])],
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

describe('a fault of this service', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' });
  const good = (): string => world.raw.url(answer(['200 OK'], WHOLE));
  const failing = (over: Partial<Draft>, discarded: () => void): IncomingFolder => ({
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
    ['finished', {}],
  ])('is not blamed on the sender: a file that cannot be %s is not fetched again', async (_what, over) => {
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
  });

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

  test('includes its stop, which ends a transfer at any time', async () => {
    const before = world.raw.connections();
    const stopping = new AbortController();
    stopping.abort();

    const fault = await world.faultOf(good(), { permits: anyPermits(stopping.signal) });
    expect(fault).toBeInstanceOf(FetchFault);
    expect(fault.code).toBe('busy');
    expect(world.raw.connections()).toBe(before);
  });
});
