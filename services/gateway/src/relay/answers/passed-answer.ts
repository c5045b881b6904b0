import type { AnswerBody, AnswerContext } from './answer-body.ts';
import { hideInPieces } from '../../json-bytes/hide-in-pieces.ts';
import { readUsage } from './usage-in-bytes.ts';

/** The bytes at the end that are kept to find the usage in. */
const TAIL_BYTES = 64 * 1024;

/** Passes bytes as they arrive: sound, pictures, and JSON that is too long to be held. */
export function newPassedAnswer(context: AnswerContext, isJson: boolean): AnswerBody {
  const { sink, hider, call, hides } = context;
  const rewrites = isJson && hides;
  let tail: Buffer = Buffer.alloc(0);
  const pieces = hideInPieces(hider);
  const write = (bytes: Buffer): void => {
    if (bytes.length > 0 && !sink.write(bytes)) context.pause();
  };
  const { contentLength } = context;
  sink.begin(context.status, {
    ...context.headers,
    ...(contentLength === undefined || rewrites ? {} : { 'content-length': contentLength }),
  });
  return {
    take: (chunk) => {
      if (isJson) tail = keepLastBytes(tail, chunk);
      write(rewrites ? pieces.take(chunk) : chunk);
    },
    end: (trailers) => {
      const rest = pieces.rest();
      sink.end(rest.length === 0 ? undefined : rest, trailers);
    },
    broken: () => {
      sink.broken();
    },
    beat: () => undefined,
    progress: () => ({ begun: true, textBytes: tail.length, usage: isJson ? readUsage(tail, call) : undefined }),
  };
}

/** Returns the last bytes of everything that has arrived. */
export function keepLastBytes(tail: Buffer, chunk: Buffer): Buffer {
  if (chunk.length >= TAIL_BYTES) return chunk.subarray(chunk.length - TAIL_BYTES);
  const whole = Buffer.concat([tail, chunk]);
  return whole.length <= TAIL_BYTES ? whole : whole.subarray(whole.length - TAIL_BYTES);
}
