import type { IncomingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import type { Dispatcher } from 'undici';

/**
 * The most bytes of an unpacked answer. The answer passes in pieces; this limit bounds the work for a small answer that
 * unpacks endlessly.
 */
const UNPACKED_BYTES_MAX = 1024 * 1024 * 1024;
/** 8 MiB, the most that a reader must support (RFC 9659). */
const ZSTD_WINDOW_LOG_MAX = 23;
/** In the low half of a zlib header's first byte (RFC 1950); some upstreams send deflate without this header. */
const ZLIB_METHOD = 8;
const TOO_LARGE = new Error('the unpacked answer is longer than 1 GiB');

const { Z_SYNC_FLUSH, ZSTD_d_windowLogMax: WINDOW_LOG } = constants;
/** A truncated body is read as far as it goes, as other clients do. */
const ZLIB = { finishFlush: Z_SYNC_FLUSH };
const gzip = (): Transform => createGunzip(ZLIB);
type Open = (first: number) => Transform;
const OPEN: ReadonlyMap<string, Open> = new Map<string, Open>([
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['deflate', (first) => ((first & 0x0f) === ZLIB_METHOD ? createInflate(ZLIB) : createInflateRaw(ZLIB))],
  ['br', () => createBrotliDecompress()],
  ['zstd', () => createZstdDecompress({ params: { [WINDOW_LOG]: ZSTD_WINDOW_LOG_MAX } })],
]);

/**
 * Decompresses answers for a handler, because some upstreams compress although the request does not allow it. A body
 * with an unknown encoding stays as it is.
 */
export function unpackAnswers(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
  let unpacker: Unpacker | undefined;
  return {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onResponseStart: (controller, status, headers, message) => {
      const { 'content-encoding': encoding } = headers;
      const open = encoding === undefined ? undefined : OPEN.get(String(encoding).trim().toLowerCase());
      if (open !== undefined) unpacker = newUnpacker(open, controller, handler);
      handler.onResponseStart?.(
        unpacker?.controller ?? controller,
        status,
        unpacker === undefined ? headers : dropEncodingHeaders(headers),
        message,
      );
    },
    onResponseData: (controller, chunk) => {
      if (unpacker === undefined) handler.onResponseData?.(controller, chunk);
      else unpacker.take(chunk);
    },
    onResponseEnd: (controller, trailers) => {
      if (unpacker === undefined) handler.onResponseEnd?.(controller, trailers);
      else unpacker.finish((end) => handler.onResponseEnd?.(end, trailers));
    },
    onResponseError: (controller, error) => {
      if (unpacker === undefined) handler.onResponseError?.(controller, error);
      else unpacker.finish((end) => handler.onResponseError?.(end, error));
    },
  };
}

interface Unpacker {
  /** The controller for the handler: it pauses the unpacked bytes. */
  readonly controller: Dispatcher.DispatchController;
  take(chunk: Buffer): void;
  /** Ends the input; calls `tell` once the handler has all bytes. */
  finish(tell: (controller: Dispatcher.DispatchController) => void): void;
}

function newUnpacker(
  open: Open,
  upstream: Dispatcher.DispatchController,
  handler: Dispatcher.DispatchHandler,
): Unpacker {
  let stream: Transform | undefined;
  let isOver = false;
  let bytes = 0;
  const fail = (reason: Error): void => {
    if (isOver) return;
    isOver = true;
    stream?.destroy();
    upstream.abort(reason);
    handler.onResponseError?.(controller, reason);
  };
  const controller: Dispatcher.DispatchController = {
    get aborted() {
      return upstream.aborted;
    },
    get paused() {
      return stream?.isPaused() ?? upstream.paused;
    },
    get reason() {
      return upstream.reason;
    },
    abort: fail,
    pause: () => void (stream ?? upstream).pause(),
    resume: () => void (stream ?? upstream).resume(),
  };
  const begin = (first: number): Transform => {
    stream = open(first);
    stream
      .on('drain', () => upstream.resume())
      .on('error', fail)
      .on('data', (piece: Buffer) => {
        bytes += piece.length;
        if (bytes > UNPACKED_BYTES_MAX) fail(TOO_LARGE);
        else if (!isOver) handler.onResponseData?.(controller, piece);
      });
    return stream;
  };
  return {
    controller,
    take: (chunk) => {
      const [first] = chunk;
      if (isOver || first === undefined) return;
      if (!(stream ?? begin(first)).write(chunk)) upstream.pause();
    },
    finish: (tell) => {
      const last = (): void => {
        if (isOver) return;
        isOver = true;
        tell(controller);
      };
      if (stream === undefined) last();
      else stream.once('end', last).end();
    },
  };
}

function dropEncodingHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name !== 'content-encoding' && name !== 'content-length'),
  );
}
