import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { crc32, deflateSync } from 'node:zlib';
import { startBenchProgram } from '../bench-program.ts';
import { quantile } from '../load.ts';
import type { Line } from '../table.ts';
import { KEYS } from '../../harness/test-config.ts';
import { memoryMiB, peakMiB } from './memory.ts';

const AT_ONCE = 50;
const SIDE = 2800;
const PIXEL_BYTES = 3;
const TRIES_MAX = 60;

/** Fifty requests at once, each with 64 MiB of data URLs: the program's memory, and the wait of the last request. */
export async function inlineBodiesBench(): Promise<readonly Line[]> {
  const bench = await startBenchProgram('one program');
  try {
    const body = orderWithPictures();
    await post(bench.port, body);
    const before = memoryMiB(bench.program.pids());
    const { result: latencies, peak } = await peakMiB(
      () => bench.program.pids(),
      () => Promise.all(Array.from({ length: AT_ONCE }, () => post(bench.port, body))),
    );
    const size = String(Math.round(body.length / 2 ** 20));
    const what = `create with ${size} MiB of data URLs, ${AT_ONCE} at once`;
    return [
      { what: `${what}: memory, and before`, figure: peak, unit: 'MiB', baseline: before, goal: 'under 2048 MiB' },
      { what: `${what}: the last one`, figure: quantile(latencies, 1) / 1000, unit: 's' },
    ];
  } finally {
    await bench.end();
  }
}

/** An order with two pictures of noise, which no compression makes smaller. */
function orderWithPictures(): Buffer {
  const url = `data:image/png;base64,${noisePng().toString('base64')}`;
  return Buffer.from(
    JSON.stringify({
      model: 'Alpha-H3',
      duration: 5,
      resolution: '768P',
      ratio: '16:9',
      content: [
        { type: 'text', text: 'a red boat' },
        ...[url, url].map((each) => ({ type: 'image_url', role: 'reference_image', image_url: { url: each } })),
      ],
    }),
  );
}

function noisePng(): Buffer {
  const rows = Buffer.alloc((SIDE * PIXEL_BYTES + 1) * SIDE);
  for (let y = 0; y < SIDE; y += 1) randomBytes(SIDE * PIXEL_BYTES).copy(rows, y * (SIDE * PIXEL_BYTES + 1) + 1);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(SIDE, 0);
  header.writeUInt32BE(SIDE, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 0 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const tagged = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const head = Buffer.alloc(4);
  const sum = Buffer.alloc(4);
  head.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(tagged));
  return Buffer.concat([head, tagged, sum]);
}

/** The milliseconds until the create was accepted, with all refused attempts. */
async function post(port: number, body: Buffer): Promise<number> {
  const start = performance.now();
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const { status, text } = await once(port, body);
    if (status === 200) return performance.now() - start;
    if (status !== 503) throw new Error(`${status}: ${text.slice(0, 300)}`);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  throw new Error('it was never taken');
}

function once(port: number, body: Buffer): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        port,
        host: '127.0.0.1',
        agent: false,
        method: 'POST',
        path: '/v2/video_generation',
        headers: {
          authorization: `Bearer ${KEYS.demo}`,
          'content-type': 'application/json',
          'content-length': body.length,
        },
      },
      (answer) => {
        answer
          .setEncoding('utf8')
          .toArray()
          .then((parts) => {
            resolve({ status: answer.statusCode ?? 0, text: parts.join('') });
          }, reject);
      },
    );
    asked.on('error', reject).end(body);
  });
}
