import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { fetchWorldOfTests } from '../../../testing/fetch-world.ts';
import { answer, floods } from '../../../testing/raw-origin.ts';
import type { Raw } from '../../../testing/raw-origin.ts';
import { FetchFault, NOT_REACHED } from '../../domain/fetch-fault.ts';

const world = await fetchWorldOfTests();

const OK = '200 OK';
const LONG = 'x'.repeat(17_000);
const TWO_TYPES = [
  'image/png, text/html',
  'text/html, image/png',
  'image/png,text/html',
  'image/png, image/png',
  'image/png,',
  ', image/png',
  'image/png; a=b, text/html',
  'image/png; a="b", text/html',
  'image/png; a="b, text/html',
];

/** Resets the connection after the client has read what was sent. */
const resets =
  (said: string): Raw =>
  (socket) => {
    socket.write(said, () => {
      setTimeout(() => socket.resetAndDestroy(), 20);
    });
  };

describe('an answer that is not a file is refused:', () => {
  test.each<[string, string, Raw]>([
    // lengths
    ['a length that is too large', 'network', answer([OK, 'content-length: 30'], 'abcdef')],
    ['a negative length', 'network', answer([OK, 'content-length: -3'], 'abc')],
    ['a length with a sign', 'network', answer([OK, 'content-length: +3'], 'abc')],
    ['a length in hexadecimal', 'network', answer([OK, 'content-length: 0x3'], 'abc')],
    ['a length in words', 'network', answer([OK, 'content-length: three'], 'abc')],
    ['an empty length', 'network', answer([OK, 'content-length: '], 'abc')],
    ['a broken length', 'network', answer([OK, 'content-length: 3.0'], 'abc')],
    ['a list of lengths', 'network', answer([OK, 'content-length: 3, 3'], 'abc')],
    ['a repeated length', 'network', answer([OK, 'content-length: 3', 'content-length: 3'], 'abc')],
    ['two lengths', 'network', answer([OK, 'content-length: 3', 'content-length: 4'], 'abcd')],
    ['two lengths, the second too large', 'network', answer([OK, 'content-length: 3', 'content-length: 1001'], 'abc')],
    ['a length over the limit', 'too_large', answer([OK, 'content-length: 1001'], 'abc')],
    ['a length of many digits', 'too_large', answer([OK, 'content-length: 9999999999999999'], 'abc')],
    ['a length that overflows', 'network', answer([OK, 'content-length: 99999999999999999999999999'], 'abc')],
    [
      'a length and chunks',
      'network',
      answer([OK, 'content-length: 3', 'transfer-encoding: chunked'], '3\r\nabc\r\n0\r\n\r\n'),
    ],
    [
      'chunks and a length',
      'network',
      answer([OK, 'transfer-encoding: chunked', 'content-length: 3'], '3\r\nabc\r\n0\r\n\r\n'),
    ],
    ['too many bytes without a length', 'too_large', answer([OK], 'x'.repeat(1001))],
    // chunks
    ['truncated chunks', 'network', answer([OK, 'transfer-encoding: chunked'], '3\r\nabc\r\n')],
    ['a truncated chunk', 'network', answer([OK, 'transfer-encoding: chunked'], '9\r\nabc')],
    ['a chunk without a size', 'network', answer([OK, 'transfer-encoding: chunked'], 'zz\r\nabc\r\n0\r\n\r\n')],
    ['a chunk of negative size', 'network', answer([OK, 'transfer-encoding: chunked'], '-3\r\nabc\r\n0\r\n\r\n')],
    [
      'a chunk with a size of many digits',
      'network',
      answer([OK, 'transfer-encoding: chunked'], 'fffffffffffffffff\r\nabc\r\n'),
    ],
    ['a chunk longer than its size', 'network', answer([OK, 'transfer-encoding: chunked'], '3\r\nabcdef\r\n0\r\n\r\n')],
    [
      'chunks over the limit',
      'too_large',
      answer([OK, 'transfer-encoding: chunked'], `3e9\r\n${'x'.repeat(1001)}\r\n0\r\n\r\n`),
    ],
    ['a long trailer', 'network', answer([OK, 'transfer-encoding: chunked'], `3\r\nabc\r\n0\r\nx: ${LONG}\r\n\r\n`)],
    // other encodings than none
    ...[
      'gzip',
      'br',
      'deflate',
      'zstd',
      'compress',
      'x-gzip',
      'GZIP',
      ' gzip ',
      'gzip, identity',
      'identity, gzip',
      'identity,identity',
      'aws-chunked',
      'exi',
      '*',
    ].map((coding): [string, string, Raw] => [
      `content-encoding: ${coding}`,
      'encoding',
      answer([OK, `content-encoding: ${coding}`, 'content-length: 3'], 'abc'),
    ]),
    ...['gzip', 'deflate', 'gzip, chunked', 'chunked, chunked', 'compress, chunked', 'x'].map(
      (coding): [string, string, Raw] => [
        `transfer-encoding: ${coding}`,
        'encoding',
        answer([OK, `transfer-encoding: ${coding}`], '3\r\nabc\r\n0\r\n\r\n'),
      ],
    ),
    [
      'two encodings',
      'network',
      answer([OK, 'content-encoding: identity', 'content-encoding: gzip', 'content-length: 3'], 'abc'),
    ],
    [
      'two types',
      'network',
      answer([OK, 'content-type: image/png', 'content-type: text/html', 'content-length: 3'], 'abc'),
    ],
    ...TWO_TYPES.map((type): [string, string, Raw] => [
      `the types ${type}`,
      'network',
      answer([OK, `content-type: ${type}`, 'content-length: 3'], 'abc'),
    ]),
    // status codes
    ...[
      201, 202, 203, 204, 205, 206, 226, 300, 304, 305, 306, 400, 401, 402, 403, 404, 407, 410, 416, 418, 421, 426, 429,
      451, 500, 502, 503, 504, 511, 599, 600, 999,
    ].map((status): [string, string, Raw] => [
      `the status ${status}`,
      'status',
      answer([`${status} X`, 'content-length: 3'], 'abc'),
    ]),
    [
      'a partial answer with the whole file',
      'status',
      answer(['206 Partial', 'content-range: bytes 0-2/3', 'content-length: 3'], 'abc'),
    ],
    ['an upgrade', 'network', answer(['101 Switching', 'upgrade: h2c', 'connection: upgrade'], 'abc')],
    ['a 100 Continue', 'network', answer(['100 Continue'], answer([OK, 'content-length: 3'], 'abc'))],
    ['a status of one digit', 'network', answer(['2 OK'], 'abc')],
    ['a status of two digits', 'network', answer(['20 OK'], 'abc')],
    ['a status of four digits', 'network', answer(['2000 OK'], 'abc')],
    ['a negative status', 'network', answer(['-200 OK'], 'abc')],
    // headers
    ['endless headers', 'network', answer([OK, `x: ${LONG}`, 'content-length: 3'], 'abc')],
    ['an endless header name', 'network', answer([OK, `${LONG}: x`, 'content-length: 3'], 'abc')],
    ['endless header lines', 'network', answer([OK, ...Array<string>(9000).fill('a: b'), 'content-length: 3'], 'abc')],
    ['a folded header', 'network', answer([OK, 'x: a\r\n b', 'content-length: 3'], 'abc')],
    ['a header without a name', 'network', answer([OK, ': x', 'content-length: 3'], 'abc')],
    ['a header without a colon', 'network', answer([OK, 'x', 'content-length: 3'], 'abc')],
    ['a header name with a space', 'network', answer([OK, 'content-length : 3'], 'abc')],
    ['a zero byte in a value', 'network', answer([OK, 'x: \0', 'content-length: 3'], 'abc')],
    ['lines with other ends', 'network', 'HTTP/1.1 200 OK\ncontent-length: 3\n\nabc'],
    ['no headers', 'network', 'abc'],
    ['nothing', 'network', ''],
    ['the banner of another server', 'network', 'SSH-2.0-banner_of_10.0.0.1\r\n'],
    ['mail', 'network', '220 mail.internal ESMTP\r\n'],
    ['a store', 'network', '-ERR unknown command\r\n'],
    ['another version of HTTP', 'network', 'HTTP/3.7 200 OK\r\n\r\nabc'],
    ['frames of HTTP/2', 'network', '\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x64'],
    ['half of the headers', 'network', 'HTTP/1.1 200 OK\r\ncontent-le'],
    ['half a status line', 'network', 'HTTP/1'],
    // connections
    [
      'a reset immediately',
      'network',
      (socket) => {
        socket.resetAndDestroy();
      },
    ],
    [
      'a reset within the headers',
      'network',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n', () => socket.resetAndDestroy());
      },
    ],
    [
      'a reset within the body',
      'network',
      (socket) => {
        socket.write(answer([OK, 'content-length: 30'], 'abc'), () => socket.resetAndDestroy());
      },
    ],
    ...[
      [OK],
      [OK, 'connection: close'],
      [OK, 'connection: close', 'content-length: 30'],
      [OK, 'connection: close', 'transfer-encoding: chunked'],
    ].map((head): [string, string, Raw] => [
      `a reset within the body of ${head.join(', ')}`,
      'network',
      resets(answer(head, '3\r\nabc\r\n')),
    ]),
  ])('%s (%s)', async (_what, code, said) => {
    const fault = await world.faultOf(world.raw.url(said));

    expect(fault).toMatchObject({
      code,
      said: code === 'network' ? NOT_REACHED : expect.stringMatching(/^could not be fetched|^must have at most/),
    });
    expect(fault).toBeInstanceOf(FetchFault);
  });
});

describe('an answer is accepted unchanged:', () => {
  test.each<[string, Raw]>([
    ['with a comma in a quoted string', answer([OK, 'content-type: image/png; a="b, c"', 'content-length: 3'], 'abc')],
    ['with a length', answer([OK, 'content-length: 3'], 'abc')],
    ['with bytes behind its length', answer([OK, 'content-length: 3'], 'abcdef')],
    [
      'with another answer behind it',
      answer([OK, 'content-length: 3'], `abc${answer([OK, 'content-length: 3'], 'def')}`),
    ],
    ['until the connection ends', answer([OK], 'abc')],
    ['in HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nabc'],
    ['in chunks', answer([OK, 'transfer-encoding: chunked'], '1\r\na\r\n2;x=y\r\nbc\r\n0\r\nx: y\r\n\r\n')],
    ['with an empty encoding', answer([OK, 'content-encoding: ', 'content-length: 3'], 'abc')],
    ['declared as not encoded', answer([OK, 'content-encoding: Identity', 'content-length: 3'], 'abc')],
    [
      'after hints',
      answer(['103 Early', 'link: </x>'], answer(['102 Wait'], answer([OK, 'content-length: 3'], 'abc'))),
    ],
    ['with a hundred headers', answer([OK, ...Array<string>(100).fill('set-cookie: a=b'), 'content-length: 3'], 'abc')],
  ])('%s', async (_what, said) => {
    expect(await world.fetchOf(world.raw.url(said))).toEqual({ bytes: Buffer.from('abc') });
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ] as const)('an undeclared %s file stays compressed, whatever its decompressed size', async (_name, compress) => {
    const bytes = compress(Buffer.alloc(20_000_000));
    const url = world.raw.url((socket) => {
      socket.write(answer([OK, `content-length: ${bytes.byteLength}`]));
      socket.end(bytes);
    });

    expect(await world.fetchOf(url, { bytesMax: 50_000 })).toEqual({ bytes });
  });

  test('up to the exact limit, and not one byte longer', async () => {
    const url = (length: number): string => world.raw.url(answer([OK], 'x'.repeat(length)));

    expect('bytes' in (await world.fetchOf(url(1000)))).toBe(true);
    expect((await world.faultOf(url(1001))).code).toBe('too_large');
  });
});

describe('an origin that sends endless bytes without a file', () => {
  test.each([
    ['a state', floods('HTTP/1.1 200 ', 'O')],
    ['hints', floods('', answer(['103 Early', 'link: </x>']))],
    ['empty hints', floods('', answer(['102 Wait']))],
    ['empty lines', floods('', '\r\n')],
    ['a line', floods('HTTP/1.1 200 OK\r\nx: ', 'x')],
    ['lines', floods('HTTP/1.1 200 OK\r\n', 'a: b\r\n')],
    ['an extension of one chunk', floods(answer([OK, 'transfer-encoding: chunked'], '4;'), 'x')],
    ['extensions of all chunks', floods(answer([OK, 'transfer-encoding: chunked']), `1;${'x'.repeat(5000)}\r\na\r\n`)],
    ['chunks of one byte', floods(answer([OK, 'transfer-encoding: chunked']), '1\r\na\r\n')],
    ['a size', floods(answer([OK, 'transfer-encoding: chunked']), '0')],
    ['trailers', floods(answer([OK, 'transfer-encoding: chunked'], '0\r\n'), 'a: b\r\n')],
  ])('is given up as soon as it is recognised: %s', async (_what, said) => {
    const startedAt = Date.now();

    expect(await world.faultOf(world.raw.url(said), { bytesMax: 1e8 })).toMatchObject({
      code: 'network',
      said: NOT_REACHED,
    });
    expect(Date.now() - startedAt).toBeLessThan(3000);
  });

  test('is given up after a limited number of bytes around a file, too', async () => {
    for (const head of [
      answer([OK]),
      answer([OK, 'content-length: 99']),
      answer([OK, 'transfer-encoding: chunked'], 'fffffff\r\n'),
    ]) {
      const outcome = await world.fetchOf(world.raw.url(floods(head, 'x')));
      expect('bytes' in outcome ? outcome.bytes.byteLength : outcome.fault.code).toBe(
        head.includes('99') ? 99 : 'too_large',
      );
    }
  });
});
