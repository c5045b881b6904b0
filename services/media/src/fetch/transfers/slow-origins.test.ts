import type { Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { until } from '@reelgate/platform/testing/until';
import { LIMITS, fetchWorldOfTests } from '../../../testing/fetch-world.ts';
import type { Over } from '../../../testing/fetch-world.ts';
import { answer, startRawOrigin } from '../../../testing/raw-origin.ts';
import type { Raw } from '../../../testing/raw-origin.ts';
import { addressPolicy } from '../addresses/address-policy.ts';
import type { FetchFault } from '../../domain/fetch-fault.ts';

const OK = '200 OK';
const world = await fetchWorldOfTests();
world.dns.answer('silent.example', 'silence');

/** Sends the beginning, then a few bytes at a time while the client is connected. */
const drips =
  (beginning: string, drop: string): Raw =>
  (socket: Socket) => {
    socket.write(beginning);
    const timer = setInterval(() => {
      socket.write(drop);
    }, 2);
    socket.on('close', () => {
      clearInterval(timer);
    });
  };
const silent =
  (beginning: string): Raw =>
  (socket: Socket) => {
    if (beginning !== '') socket.write(beginning);
  };

/** Runs the clock fast, a second in a few milliseconds, after the origin was reached. */
async function outlasted(url: string, over: Over = {}, server = world.raw): Promise<FetchFault> {
  const clock = fakeClock();
  const reached = (): number => server.connections() + world.dns.asked.length;
  const before = reached();
  let isOver = false;
  const outcome = world.faultOf(url, { clock, bytesMax: 1e9, ...over }).finally(() => {
    isOver = true;
  });
  outcome.catch(() => undefined);
  await until(() => reached() > before || isOver);
  for (let steps = 0; steps < 2000 && !isOver; steps += 1) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    await clock.advance(500);
  }
  return outcome;
}
const patient = { ...LIMITS, totalMs: 1e9, leastBytesPerSecond: 0 };

describe('an origin is given up', () => {
  test.each<[string, Raw, string]>([
    // the headers
    ['that sends nothing', silent(''), 'no answer came within 10 s'],
    ['that sends a few bytes', silent('HTTP/1.1 2'), 'no answer came within 10 s'],
    ['whose status line drips', drips('HTTP/1.1 200 ', 'O'), 'no answer came within 10 s'],
    ['whose headers drip line by line', drips('HTTP/1.1 200 OK\r\n', 'a: b\r\n'), 'no answer came within 10 s'],
    ['whose headers drip byte by byte', drips('HTTP/1.1 200 OK\r\na: ', 'b'), 'no answer came within 10 s'],
    ['that sends hints repeatedly', drips('', answer(['103 Early', 'link: </x>'])), 'no answer came within 10 s'],
    ['that sends empty lines', drips('', '\r\n'), 'no answer came within 10 s'],
    // the body
    ['whose body does not begin', silent(answer([OK, 'content-length: 30'])), 'no more bytes came within 10 s'],
    ['whose body stops', silent(answer([OK, 'content-length: 30'], 'abc')), 'no more bytes came within 10 s'],
    ['whose body without a length stops', silent(answer([OK], 'abc')), 'no more bytes came within 10 s'],
    [
      'whose chunks stop',
      silent(answer([OK, 'transfer-encoding: chunked'], '3\r\nabc\r\n')),
      'no more bytes came within 10 s',
    ],
    [
      'whose chunks do not end',
      silent(answer([OK, 'transfer-encoding: chunked'], '3\r\nabc\r\n0\r\n')),
      'no more bytes came within 10 s',
    ],
    [
      'whose chunks have only extensions',
      drips(answer([OK, 'transfer-encoding: chunked'], '4;'), 'x'),
      'no more bytes came within 10 s',
    ],
    [
      'whose chunk sizes are only zeros',
      drips(answer([OK, 'transfer-encoding: chunked']), '0'),
      'no more bytes came within 10 s',
    ],
    [
      'that adds trailers to its chunks',
      drips(answer([OK, 'transfer-encoding: chunked'], '0\r\n'), 'a: b\r\n'),
      'no more bytes came within 10 s',
    ],
  ])('%s', async (_what, raw, said) => {
    expect(await outlasted(world.raw.url(raw), { limits: patient })).toMatchObject({
      code: 'slow',
      said: expect.stringContaining(said),
    });
  });

  test.each<[string, Raw]>([
    ['with a length', drips(answer([OK, 'content-length: 99999']), 'x')],
    ['without a length', drips(answer([OK]), 'x')],
    ['in chunks', drips(answer([OK, 'transfer-encoding: chunked']), '1\r\na\r\n')],
  ])('whose body drips %s: for its speed, or at its time limit', async (_what, raw) => {
    expect(
      await outlasted(world.raw.url(raw), { limits: { ...patient, leastBytesPerSecond: 16 * 1024 } }),
    ).toMatchObject({ code: 'slow', said: expect.stringContaining('its bytes came too slowly') });
    expect(await outlasted(world.raw.url(raw), { limits: { ...patient, totalMs: 30_000 } })).toMatchObject({
      code: 'slow',
      said: expect.stringContaining('it took longer than 30 s'),
    });
  });

  test.each<[string, Raw]>([
    ['does not come', silent('')],
    ['stops', silent('\x16\x03\x03\x40')],
    ['drips', drips('\x16\x03\x03\x40\x00', 'x')],
  ])('whose handshake %s', async (_what, always) => {
    const server = await startRawOrigin({ always });
    const policy = addressPolicy({ allow: [{ host: '127.0.0.1', port: server.port }], ports: [] });
    const fault = await outlasted(`https://${server.host}/`, { limits: patient, policy }, server);
    await server.close();

    expect(fault).toMatchObject({ code: 'slow', said: expect.stringContaining('no connection was opened within 5 s') });
  });

  test('whose name gets no answer', async () => {
    expect(await outlasted('http://silent.example/', { limits: patient })).toMatchObject({
      code: 'slow',
      said: expect.stringContaining('its name was not found within 5 s'),
    });
  });

  test('that redirects repeatedly and late, at the limit of the whole transfer', async () => {
    const late: Raw = (socket) => {
      setTimeout(() => socket.end(answer(['302 Found', 'location: ?', 'content-length: 0'])), 30);
    };

    expect(
      await outlasted(world.raw.url(late), { redirectsMax: 1000, limits: { ...LIMITS, totalMs: 60_000 } }),
    ).toMatchObject({ code: 'slow', said: expect.stringContaining('it took longer than 60 s') });
  });

  test('that breaks off and continues with one byte at a time, for its speed', async () => {
    const nagging: Raw = (socket) => {
      socket.write(answer([OK, 'etag: "1"', 'content-length: 99999'], 'x'));
      setTimeout(() => socket.end(), 50);
    };
    const fault = await outlasted(world.raw.url(nagging), { resume: true });

    expect(fault.code).toMatch(/^(slow|network)$/);
  });
});
