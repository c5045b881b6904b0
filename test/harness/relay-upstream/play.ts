import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { IDENTITY_HEADERS, USEFUL_HEADER } from './identities.ts';
import type { Received } from './received.ts';
import type { Reply, Vendor } from './reply.ts';

/** A wait that does not keep the test process running. */
const wait = (ms: number): Promise<void> => delay(ms, undefined, { ref: false });
const HEADERS: Readonly<Record<string, string>> = { ...IDENTITY_HEADERS, [USEFUL_HEADER.name]: USEFUL_HEADER.value };

/**
 * Sends an answer as the words of the request steer it:
 * `[status:N]` is an error, with `[retry-after:S]` one that asks to wait, `[hang]` no answer, `[reset]` a cut connection, `[slow:MS]` a late first byte.
 * `[die:N]` cuts and `[end:N]` ends the answer after N frames, or in the middle if it has no frames.
 * `[silent:MS]` is a silence after the first frame, or with `[after:N]` after N, `[pace:MS]` a pause before each frame,
 * `[fail:N]` the vendor's own error after N frames. `[join]` splits frames at odd positions, `[crlf]` ends lines by CR
 * LF, `[trailer]` adds a trailer.
 */
export async function play(response: ServerResponse, asked: Received, vendor: Vendor, reply: Reply): Promise<void> {
  const { words } = asked;
  if (words.has('hang')) return;
  if (words.has('reset')) {
    response.destroy();
    return;
  }
  if (words.has('slow')) await wait(words.number('slow', 0));
  const status = words.number('status', 200);
  if (status !== 200) sendError(response, asked, vendor, status);
  else if (reply.kind === 'stream') await sendStream(response, asked, vendor, reply.frames);
  else await sendWhole(response, asked, reply);
}

function sendError(response: ServerResponse, asked: Received, vendor: Vendor, status: number): void {
  const retry = asked.words.has('retry-after') ? { 'retry-after': String(asked.words.number('retry-after', 0)) } : {};
  const body = Buffer.from(
    asked.words.has('html')
      ? `<html>Bad gateway at ${HEADERS['x-served-by'] ?? ''}</html>`
      : JSON.stringify(vendor.error(status, asked)),
  );
  response
    .writeHead(status, {
      ...HEADERS,
      ...retry,
      'content-type': asked.words.has('html') ? 'text/html' : 'application/json',
      'content-length': body.length,
    })
    .end(body);
}

async function sendWhole(
  response: ServerResponse,
  asked: Received,
  reply: Exclude<Reply, { kind: 'stream' }>,
): Promise<void> {
  const [contentType, bytes] =
    reply.kind === 'json'
      ? (['application/json', Buffer.from(JSON.stringify(reply.body))] as const)
      : ([reply.contentType, reply.bytes] as const);
  response.writeHead(200, { ...HEADERS, 'content-type': contentType, 'content-length': bytes.length });
  if (asked.words.has('die')) {
    response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
    return;
  }
  await write(response, asked, bytes);
  response.end();
}

async function sendStream(
  response: ServerResponse,
  asked: Received,
  vendor: Vendor,
  frames: readonly string[],
): Promise<void> {
  const { words } = asked;
  response.writeHead(200, {
    ...HEADERS,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    ...(words.has('trailer') ? { trailer: 'x-checksum' } : {}),
  });
  response.flushHeaders();
  for (const [at, frame] of frames.entries()) {
    if (asked.left) return;
    if (at === words.number('die', -1)) {
      // what was written leaves first
      await new Promise(setImmediate);
      response.destroy();
      return;
    }
    if (at === words.number('end', -1)) break;
    if (at === words.number('fail', -1)) {
      await write(response, asked, Buffer.from(vendor.errorFrame(asked)));
      break;
    }
    if (at === words.number('after', 1)) await wait(words.number('silent', 0));
    if (words.has('pace')) await wait(words.number('pace', 0));
    await writeFrame(response, asked, words.has('crlf') ? frame.replaceAll('\n', '\r\n') : frame);
  }
  if (words.has('trailer'))
    response.addTrailers({ 'x-checksum': 'abc123', 'x-upstream-trace-id': HEADERS['x-cloud-trace-context'] ?? '' });
  response.end();
}

/** Sends a frame. With `[join]` it sends two pieces at different times, because a frame is not a packet. */
async function writeFrame(response: ServerResponse, asked: Received, frame: string): Promise<void> {
  const bytes = Buffer.from(frame);
  const cut = asked.words.has('join') ? Math.ceil(bytes.length / 2) : bytes.length;
  await write(response, asked, bytes.subarray(0, cut));
  if (cut === bytes.length) return;
  await wait(2);
  await write(response, asked, bytes.subarray(cut));
}

/** Writes no faster than the client reads. */
async function write(response: ServerResponse, asked: Received, bytes: Buffer): Promise<void> {
  const PIECE_BYTES = 65_536;
  for (let from = 0; from < bytes.length && !asked.left; from += PIECE_BYTES) {
    const piece = bytes.subarray(from, from + PIECE_BYTES);
    if (!response.write(piece)) await room(response);
    asked.sent += piece.length;
  }
}

/** Resolves when the client can take more, or has disconnected. */
function room(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}
