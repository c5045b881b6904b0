import type { IncomingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import type { Dispatcher } from 'undici';
import { findUnpacker } from '@reelgate/platform/http/content-codings';
import type { OpenUnpacker } from '@reelgate/platform/http/content-codings';

/**
 * The maximum number of bytes of an unpacked answer. The answer passes in pieces. This limit bounds the work for a
 * small answer that unpacks endlessly.
 */
const UNPACKED_BYTES_MAX = 1024 * 1024 * 1024;
const TOO_LARGE = new Error('the unpacked answer is longer than 1 GiB');

/**
 * Decompresses answers for a handler, because some upstreams compress although the request does not allow it. A body
 * with an unknown encoding stays as it is. A truncated one is read as far as it goes, as other clients do.
 */
export function unpackAnswers(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
  let unpacker: Unpacker | undefined;
  return {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onResponseStart: (controller, status, headers, message) => {
      const { 'content-encoding': encoding } = headers;
      const open = encoding === undefined ? undefined : findUnpacker(String(encoding), { readsTruncated: true });
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
  /** Ends the input. Calls `end` once the handler has all bytes. */
  finish(end: (controller: Dispatcher.DispatchController) => void): void;
}

function newUnpacker(
  open: OpenUnpacker,
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
    finish: (end) => {
      const last = (): void => {
        if (isOver) return;
        isOver = true;
        end(controller);
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
