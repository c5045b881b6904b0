import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { fixture } from '../../../services/media/testing/origin.ts';
import { answer, floods } from '../../../services/media/testing/raw-origin.ts';
import type { Raw } from '../../../services/media/testing/raw-origin.ts';
import { attacks } from '../attack.ts';
import type { Attack, Reason } from '../attack.ts';
import type { AttackWorld } from '../attack-world.ts';

const OK = '200 OK';
const PNG = fixture('image.png');
const LONG = 'x'.repeat(17_000);
const BOMB_BYTES = 30_000_000;
const DRIP_MS = 50;
const PIXELS_HEADER_BYTES = 33;

const sends =
  (lines: readonly string[], body: Buffer): Raw =>
  (socket) => {
    socket.write(answer(lines));
    socket.end(body);
  };
/** Sends the beginning, then a little at intervals. */
const drips =
  (beginning: string, drop: string): Raw =>
  (socket) => {
    socket.write(beginning);
    const timer = setInterval(() => socket.write(drop), DRIP_MS);
    socket.on('close', () => {
      clearInterval(timer);
    });
  };
const silent =
  (beginning: string): Raw =>
  (socket) => {
    if (beginning !== '') socket.write(beginning);
  };
const typed = (type: string, body: Buffer = PNG): Raw =>
  sends([OK, `content-type: ${type}`, `content-length: ${body.byteLength}`], body);

/** Answers of a permitted origin that are not a file, or a file that must not be accepted. */
export function responseAttacks({ raw }: AttackWorld): readonly Attack[] {
  const table: readonly (readonly [string, readonly Reason[], readonly Raw[]])[] = [
    ['types that are not declared so', ['unreached'], TYPES.map((type) => typed(type))],
    ['bytes of other types', ['unreached'], OTHER_BYTES.map((bytes) => typed('image/png', bytes))],
    [
      'statuses without a file',
      ['unreached'],
      STATES.map((status) => answer([`${status} X`, 'content-length: 3'], 'abc')),
    ],
    [
      'encodings',
      ['unreached'],
      [
        ...['br', 'deflate', 'zstd', 'compress', 'GZIP', 'gzip, identity', 'identity, gzip', 'aws-chunked', '*'].map(
          (coding) => answer([OK, `content-encoding: ${coding}`, 'content-length: 3'], 'abc'),
        ),
        ...['gzip', 'gzip, chunked', 'chunked, chunked', 'x'].map((coding) =>
          answer([OK, `transfer-encoding: ${coding}`], '3\r\nabc\r\n0\r\n\r\n'),
        ),
        sends([OK, 'content-encoding: gzip', 'content-type: image/png'], gzipSync(Buffer.alloc(BOMB_BYTES))),
        sends([OK, 'content-encoding: br', 'content-type: image/png'], brotliCompressSync(Buffer.alloc(BOMB_BYTES))),
      ],
    ],
    [
      'bombs without a Content-Encoding',
      ['unreached'],
      [gzipSync, deflateSync, brotliCompressSync].map((compress) =>
        typed('image/png', Buffer.from(compress(Buffer.alloc(BOMB_BYTES)))),
      ),
    ],
    [
      'bodies without end',
      ['unreached'],
      [
        floods(answer([OK]), 'x'),
        floods(answer([OK, 'content-type: image/png']), 'x'),
        floods(answer([OK, 'transfer-encoding: chunked'], 'fffffff\r\n'), 'x'),
        floods(answer([OK, 'transfer-encoding: chunked']), '1\r\na\r\n'),
        floods(answer([OK, 'transfer-encoding: chunked'], '4;'), 'x'),
        floods(answer([OK, 'transfer-encoding: chunked'], '0\r\n'), 'a: b\r\n'),
        floods('HTTP/1.1 200 ', 'O'),
        floods('', answer(['103 Early', 'link: </x>'])),
        floods('', '\r\n'),
        floods('HTTP/1.1 200 OK\r\nx: ', 'x'),
        floods('HTTP/1.1 200 OK\r\n', 'a: b\r\n'),
        answer([OK, 'content-length: 1048577'], 'abc'),
        answer([OK, 'content-length: 9999999999999999'], 'abc'),
        answer([OK], 'x'.repeat(1024 * 1024 + 1)),
      ],
    ],
    [
      'trickles and silence',
      ['unreached'],
      [
        silent(''),
        silent('HTTP/1.1 2'),
        silent(answer([OK, 'content-length: 30'])),
        silent(answer([OK, 'content-length: 30'], 'abc')),
        silent(answer([OK, 'transfer-encoding: chunked'], '3\r\nabc\r\n')),
        drips('HTTP/1.1 200 ', 'O'),
        drips('HTTP/1.1 200 OK\r\n', 'a: b\r\n'),
        drips('HTTP/1.1 200 OK\r\na: ', 'b'),
        drips('', answer(['103 Early', 'link: </x>'])),
        drips('', '\r\n'),
        drips(answer([OK, 'content-length: 30000']), 'x'),
        drips(answer([OK]), 'x'),
        drips(answer([OK, 'transfer-encoding: chunked']), '1\r\na\r\n'),
        drips(answer([OK, 'content-length: 1000000']), 'x'.repeat(1500)),
      ],
    ],
    ['lengths and pieces that contradict each other', ['unreached'], SMUGGLING],
    ['heads that are none, or too large', ['unreached'], HEADS],
    [
      'connections that break',
      ['unreached'],
      [
        (socket) => socket.resetAndDestroy(),
        (socket) => socket.end(),
        (socket) => socket.write('HTTP/1.1 200 OK\r\n', () => socket.resetAndDestroy()),
        (socket) => socket.write(answer([OK, 'content-length: 30'], 'abc'), () => socket.resetAndDestroy()),
        answer([OK, 'content-length: 30'], 'abc'),
        answer([OK, 'transfer-encoding: chunked'], '9\r\nabc'),
      ],
    ],
    [
      'pictures that lie',
      ['bytes', 'unreached'],
      [typed('image/png', PNG.subarray(0, 2000)), typed('image/png', hugeCanvas())],
    ],
  ];
  return table.flatMap(([group, reasons, said]) =>
    attacks(
      group,
      reasons,
      said.map((each) => raw.url(each)),
      '/v1/videos first_frame',
    ),
  );
}

/** The head of a PNG that claims a canvas of four thousand million pixels. */
function hugeCanvas(): Buffer {
  const bytes = Buffer.from(PNG);
  bytes.writeUInt32BE(65_535, 16);
  bytes.writeUInt32BE(65_535, 20);
  return bytes.subarray(0, PIXELS_HEADER_BYTES + 100);
}

const TYPES = [
  'text/html',
  'text/plain',
  'application/json',
  'application/xml',
  'application/javascript',
  'application/pdf',
  'application/zip',
  'application/vnd.apple.mpegurl',
  'audio/mpegurl',
  'video/mp4',
  'audio/mpeg',
  'multipart/form-data; boundary=x',
  'image/png, text/html',
  'text/html, image/png',
  'image/png,',
  'image/png; a="b, text/html',
  'image',
  '/png',
];

const ascii = (text: string): Buffer => Buffer.from(text, 'latin1');
const OTHER_BYTES = [
  ascii('<html><script>alert(1)</script>'),
  ascii('<svg xmlns="http://www.w3.org/2000/svg" width="300" height="300"><image href="http://127.0.0.1/"/></svg>'),
  ascii('<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>'),
  ascii('GIF89a\u0001\u0000\u0001\u0000'),
  ascii('%PDF-1.7\n'),
  ascii('#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1/a.ts\n'),
  ascii('<MPD><BaseURL>http://127.0.0.1/</BaseURL></MPD>'),
  ascii("ffconcat version 1.0\nfile 'http://127.0.0.1/'\n"),
  Buffer.from('504b0304140000000000', 'hex'),
  Buffer.from('49492a0008000000', 'hex'),
  Buffer.from('00000100010010100000', 'hex'),
  Buffer.concat([ascii('BM'), Buffer.alloc(60)]),
  Buffer.alloc(0),
  Buffer.alloc(1000),
];

const STATES = [
  201, 202, 203, 204, 205, 206, 226, 300, 304, 400, 401, 403, 404, 407, 410, 416, 418, 426, 429, 451, 500, 502, 503,
  504, 511, 599, 999,
];

const SMUGGLING: readonly Raw[] = [
  answer([OK, 'content-length: -3'], 'abc'),
  answer([OK, 'content-length: +3'], 'abc'),
  answer([OK, 'content-length: 0x3'], 'abc'),
  answer([OK, 'content-length: three'], 'abc'),
  answer([OK, 'content-length: '], 'abc'),
  answer([OK, 'content-length: 3.0'], 'abc'),
  answer([OK, 'content-length: 3, 3'], 'abc'),
  answer([OK, 'content-length: 3', 'content-length: 3'], 'abc'),
  answer([OK, 'content-length: 3', 'content-length: 4'], 'abcd'),
  answer([OK, 'content-length : 3'], 'abc'),
  answer([OK, 'content-length: 99999999999999999999999999'], 'abc'),
  answer([OK, 'content-length: 3', 'transfer-encoding: chunked'], '3\r\nabc\r\n0\r\n\r\n'),
  answer([OK, 'transfer-encoding: chunked', 'content-length: 3'], '3\r\nabc\r\n0\r\n\r\n'),
  answer([OK, 'transfer-encoding: chunked'], '3\r\nabc\r\n'),
  answer([OK, 'transfer-encoding: chunked'], 'zz\r\nabc\r\n0\r\n\r\n'),
  answer([OK, 'transfer-encoding: chunked'], '-3\r\nabc\r\n0\r\n\r\n'),
  answer([OK, 'transfer-encoding: chunked'], 'fffffffffffffffff\r\nabc\r\n'),
  answer([OK, 'transfer-encoding: chunked'], '3\r\nabcdef\r\n0\r\n\r\n'),
  answer([OK, 'transfer-encoding: chunked'], `3\r\nabc\r\n0\r\nx: ${LONG}\r\n\r\n`),
  answer([OK, 'content-type: image/png', 'content-type: text/html', 'content-length: 3'], 'abc'),
  answer([OK, 'content-encoding: identity', 'content-encoding: gzip', 'content-length: 3'], 'abc'),
];

const HEADS: readonly Raw[] = [
  answer([OK, `x: ${LONG}`, 'content-length: 3'], 'abc'),
  answer([OK, `${LONG}: x`, 'content-length: 3'], 'abc'),
  answer([OK, ...Array<string>(9000).fill('a: b'), 'content-length: 3'], 'abc'),
  answer([OK, 'x: a\r\n b', 'content-length: 3'], 'abc'),
  answer([OK, ': x', 'content-length: 3'], 'abc'),
  answer([OK, 'x', 'content-length: 3'], 'abc'),
  answer([OK, 'x: \0', 'content-length: 3'], 'abc'),
  answer(['101 Switching', 'upgrade: h2c', 'connection: upgrade'], 'abc'),
  answer(['2 OK'], 'abc'),
  answer(['2000 OK'], 'abc'),
  answer(['-200 OK'], 'abc'),
  'HTTP/1.1 200 OK\ncontent-length: 3\n\nabc',
  'abc',
  '',
  'SSH-2.0-banner_of_10.0.0.1\r\n',
  '220 mail.internal ESMTP\r\n',
  '-ERR unknown command\r\n',
  'HTTP/3.7 200 OK\r\n\r\nabc',
  '\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x64',
  'HTTP/1',
];
