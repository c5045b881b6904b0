import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { anyPermits } from '../../../testing/any-permits.ts';
import { LIMITS, fetchWorldOfTests } from '../../../testing/fetch-world.ts';
import type { Over } from '../../../testing/fetch-world.ts';
import { serves } from '../../../testing/origin.ts';
import { addressPolicy } from '../addresses/address-policy.ts';
import type { FetchFault } from '../../domain/fetch-fault.ts';
const BYTES = Buffer.from('the very bytes');
const { origin, secure, dns, fetchOf, faultOf } = await fetchWorldOfTests();

describe('the answer of an origin:', () => {
  test.each([204, 206, 304, 400, 401, 404, 410, 429, 500, 503])('status %i is refused', async (status) => {
    const url = origin.url((_request, response) => {
      response.writeHead(status).end();
    });

    expect((await faultOf(url)).code).toBe('status');
  });

  test('an encoding that was not requested is refused', async () => {
    expect((await faultOf(origin.url(serves(gzipSync(Buffer.alloc(900)), { 'content-encoding': 'gzip' })))).code).toBe(
      'encoding',
    );
    expect((await faultOf(origin.url(serves(BYTES, { 'content-encoding': 'br, gzip' })))).code).toBe('encoding');
    expect(await fetchOf(origin.url(serves(BYTES, { 'content-encoding': 'Identity' })))).toEqual({ bytes: BYTES });
  });

  test('too many bytes are refused, announced or not, and are not read to their end', async () => {
    let sent = 0;
    const endless = origin.url((_request, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(1000))) sent += 1000;
      };
      response.on('drain', more);
      more();
    });

    expect((await faultOf(origin.url(serves(Buffer.alloc(1001))))).code).toBe('too_large');
    expect((await faultOf(endless)).code).toBe('too_large');
    expect(sent).toBeLessThan(20_000_000);
    expect('bytes' in (await fetchOf(origin.url(serves(Buffer.alloc(1000)))))).toBe(true);
  });

  test('fewer bytes than announced are refused', async () => {
    const url = origin.url((_request, response) => {
      response.writeHead(200, { 'content-length': '500' }).write(BYTES);
      response.socket?.end();
    });

    expect((await faultOf(url)).code).toBe('network');
  });

  test('endless headers are refused', async () => {
    const url = origin.url((_request, response) => {
      response.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end(BYTES);
    });

    expect((await faultOf(url)).code).toBe('network');
  });

  test('another protocol than HTTP is refused', async () => {
    const server = createServer((socket) => {
      socket.resume().end('SSH-2.0-x\r\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;

    expect(
      (
        await faultOf(`http://127.0.0.1:${port}/`, {
          policy: addressPolicy({ allow: [{ host: '127.0.0.1', port }], ports: [] }),
        })
      ).code,
    ).toBe('network');
    await new Promise((resolve) => server.close(resolve));
  });

  test('a certificate of another name is refused', async () => {
    dns.answer('other.example', ['127.0.0.1']);

    expect((await faultOf(secure.url(serves(BYTES)).replace('127.0.0.1', 'other.example'))).code).toBe('network');
  });
});

describe('time', () => {
  /** Moves the clock after the origin was reached. */
  async function late(behave: (reached: () => void) => string, ms: number, over: Over = {}): Promise<FetchFault> {
    const clock = fakeClock();
    const { promise: reached, resolve } = Promise.withResolvers<undefined>();
    const outcome = faultOf(
      behave(() => {
        resolve(undefined);
      }),
      { clock, bytesMax: 1e9, ...over },
    );
    await reached;
    await advanceUntil(clock, outcome, ms);
    return outcome;
  }
  async function advanceUntil(clock: FakeClock, outcome: Promise<unknown>, ms: number): Promise<void> {
    let over = false;
    void outcome.then(() => {
      over = true;
    });
    // in small steps: the clock of the test runs ahead of the sockets
    for (let step = 0; step < 400 && !over; step += 1) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      await clock.advance(ms / 100);
    }
  }

  test('an origin that never answers is given up', async () => {
    expect(
      await late(
        (reached) =>
          origin.url(() => {
            reached();
          }),
        11_000,
      ),
    ).toMatchObject({ code: 'slow', said: expect.stringContaining('no answer came within 10 s') });
  });

  test('an origin that falls silent is given up', async () => {
    const behave = (reached: () => void): string =>
      origin.url((_request, response) => {
        response.writeHead(200).write(BYTES, () => {
          reached();
        });
      });

    expect(await late(behave, 11_000)).toMatchObject({
      code: 'slow',
      said: expect.stringContaining('no more bytes came'),
    });
  });

  const dripping = (reached: () => void): string =>
    origin.url((_request, response) => {
      response.writeHead(200).write('x', reached);
      const drip = setInterval(() => {
        response.write('x');
      }, 1);
      response.on('close', () => {
        clearInterval(drip);
      });
    });

  test('a whole transfer has a time limit, even if bytes keep coming', async () => {
    expect(await late(dripping, 10_000, { limits: { ...LIMITS, leastBytesPerSecond: 0 } })).toMatchObject({
      code: 'slow',
      said: expect.stringContaining('30 s'),
    });
  });

  test('a dripping origin is given up long before', async () => {
    expect(
      await late(dripping, 10_000, { limits: { ...LIMITS, totalMs: 1e9, leastBytesPerSecond: 16 * 1024 } }),
    ).toMatchObject({ code: 'slow', said: expect.stringContaining('too slowly') });
  });

  test('the stop of the service ends a transfer', async () => {
    const stopping = new AbortController();
    const url = origin.url(() => {
      stopping.abort();
    });

    expect((await faultOf(url, { permits: anyPermits(stopping.signal) })).code).toBe('busy');
  });
});

describe('a transfer that breaks off', () => {
  const whole = Buffer.from('0123456789'.repeat(50));
  /** Sends a part, and the rest on request. */
  const breaking = (etag: string, rest: (from: number) => Buffer = (from) => whole.subarray(from)): string =>
    origin.url((request, response) => {
      const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1]);
      if (request.headers.range === undefined) {
        response
          .writeHead(200, { etag, 'content-length': String(whole.byteLength) })
          .write(whole.subarray(0, 200), () => response.socket?.end());
      } else if (request.headers['if-range'] === etag) {
        response.writeHead(206, { etag, 'content-range': `bytes ${from}-499/500` }).end(rest(from));
      } else response.writeHead(400).end();
    });

  test('continues where it stopped when the origin confirms that the file is the same', async () => {
    expect(await fetchOf(breaking('"v1"'), { resume: true })).toEqual({ bytes: whole });
  });

  test('does not continue with a weak validator, or without resume', async () => {
    expect((await faultOf(breaking('W/"v1"'), { resume: true })).code).toBe('network');
    expect((await faultOf(breaking('"v1"'))).code).toBe('network');
  });

  test('is given up when it breaks off repeatedly, or when another file comes', async () => {
    let asked = 0;
    const hopeless = origin.url((_request, response) => {
      asked += 1;
      response
        .writeHead(asked === 1 ? 200 : 206, {
          etag: '"v1"',
          'content-length': '500',
          'content-range': 'bytes 100-599/600',
        })
        .write(Buffer.alloc(100), () => response.socket?.end());
    });
    const changed = origin.url((_request, response) => {
      response
        .writeHead(200, { etag: '"v1"', 'content-length': '500' })
        .write(Buffer.alloc(100), () => response.socket?.end());
    });

    expect((await faultOf(hopeless, { resume: true })).code).toBe('network');
    expect(asked).toBeLessThanOrEqual(4);
    expect((await faultOf(changed, { resume: true })).code).toBe('network');
  });
});
