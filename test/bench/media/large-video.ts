import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { mp4 } from '../../../services/media/testing/mp4.ts';

const FILLER = Buffer.alloc(1024 * 1024, 'reelgate');
/** The layout of the generated movie: a box of 24 bytes, then the box of the pictures, then the tables. */
const PICTURES_AT = 24;
const BOX_HEAD = 8;
const PICTURES_BYTES = 107 * 4;

/** A movie of this many bytes. Nearly all bytes are filler behind its pictures, and none is held in memory. */
function* largeVideo(bytes: number): Generator<Buffer> {
  const small = mp4();
  const filler = bytes - small.length;
  const head = Buffer.from(small.subarray(0, PICTURES_AT + BOX_HEAD + PICTURES_BYTES));
  head.writeUInt32BE(BOX_HEAD + PICTURES_BYTES + filler, PICTURES_AT);
  yield head;
  for (let left = filler; left > 0; left -= FILLER.length)
    yield left < FILLER.length ? FILLER.subarray(0, left) : FILLER;
  yield small.subarray(head.length);
}

/** A web server on loopback that serves a movie of any size: `/SIZE`. */
export interface VideoOrigin {
  readonly host: string;
  url(bytes: number): string;
  stop(): Promise<void>;
}

export async function startVideoOrigin(): Promise<VideoOrigin> {
  const server = createServer((request, response) => {
    const bytes = Number(request.url?.slice(1));
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': String(bytes) });
    Readable.from(largeVideo(bytes)).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    url: (bytes) => `http://${host}/${bytes}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}
