import { readdirSync, readlinkSync } from 'node:fs';
import { until } from '@reelgate/platform/testing/until';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import net from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { linkKey, signPath } from '@reelgate/platform/signatures';
import { SIGNING_KEY, startMediaUnderTest } from '../../testing/media-under-test.ts';
import type { MediaUnderTest } from '../../testing/media-under-test.ts';
import { fixture, startOrigin } from '../../testing/origin.ts';
import type { Origin } from '../../testing/origin.ts';

const MIB = 1024 ** 2;
const REST_BYTES = 300 * MIB;
const READERS = 40;
/** Two buffers for each reader, and socket buffers; a whole file for each would take twelve gigabytes. */
const GROWTH_BYTES_MAX = 200 * MIB;
const TEST_MS = 120_000;
let origin: Origin;
let under: MediaUnderTest;
let server: Server;
let link: string;

beforeAll(async () => {
  origin = await startOrigin();
  under = await startMediaUnderTest({ section: { fetch: { allow: [origin.host] } } });
  const { result } = await under.client.ingestResult({ accountId: 'demo', taskId: 'task_1', url: largeVideo() });
  const path = `/ximg/${result!.object}.mp4`;
  link = `${path}?${signPath(linkKey(SIGNING_KEY), path, Math.floor(Date.now() / 1000) + 3600)}`;
  server = createServer((request, response) => {
    void under.media.bytes.serveLink(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
}, TEST_MS);
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await under.close();
  await origin.close();
});

/** A clip with a free box behind it, which players skip. */
function largeVideo(): string {
  const head = Buffer.alloc(8, '    free', 'latin1');
  head.writeUInt32BE(REST_BYTES, 0);
  const piece = Buffer.alloc(MIB);
  return origin.url((_request, response) => {
    response
      .writeHead(200, { 'content-length': String(fixture('768p.mp4').byteLength + REST_BYTES) })
      .write(Buffer.concat([fixture('768p.mp4'), head]));
    const more = (left: number): void => {
      if (left > 0)
        response.write(piece.subarray(0, left), () => {
          more(left - piece.byteLength);
        });
      else response.end();
    };
    more(REST_BYTES - head.byteLength);
  });
}

/** Readers that send a request and never read; only the socket buffers fill. */
function readers(count: number): readonly Socket[] {
  const { port } = server.address() as AddressInfo;
  return Array.from({ length: count }, () => {
    const socket = net.connect(port, '127.0.0.1').on('error', () => undefined);
    socket.pause().write(`GET ${link} HTTP/1.1\r\nhost: x\r\n\r\n`);
    return socket;
  });
}

const openBlobs = (): number =>
  readdirSync('/proc/self/fd').filter((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`).includes(`${under.folder}/blobs/`);
    } catch {
      return false;
    }
  }).length;

test(
  'each stalled reader costs two buffers, another reader gets the whole file, and a reader that leaves closes its file',
  async () => {
    const before = process.memoryUsage.rss();
    let most = 0;
    const stalled = readers(READERS);
    await until(() => openBlobs() === READERS);

    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}${link}`);
    let bytes = 0;
    for await (const piece of answer.body!) {
      bytes += (piece as Uint8Array).byteLength;
      most = Math.max(most, process.memoryUsage.rss() - before);
    }
    expect([answer.status, bytes]).toEqual([200, Number(answer.headers.get('content-length'))]);
    expect(most).toBeLessThan(GROWTH_BYTES_MAX);

    stalled.forEach((socket, index) => {
      if (index % 2 === 0) socket.destroy();
      else socket.resetAndDestroy();
    });
    await until(() => openBlobs() === 0);
  },
  TEST_MS,
);
