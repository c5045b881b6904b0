import type { AnswerBody, AnswerContext } from './answer-body.ts';
import { usageInBytes } from './usage-in-bytes.ts';

/** So much of the end is kept to find the usage in. */
const TAIL_BYTES = 64 * 1024;
/** More than any member that names a model takes: it is looked at again with what follows. */
const OVERLAP_BYTES = 4096;

/** Bytes that pass as they come: sound, pictures, and JSON that is too long to be held. */
export function passedAnswer(context: AnswerContext, isJson: boolean): AnswerBody {
  const { sink, hider, call, hides } = context;
  const rewrites = isJson && hides;
  let tail: Buffer = Buffer.alloc(0);
  let back: Buffer = Buffer.alloc(0);
  const write = (bytes: Buffer): void => {
    if (bytes.length > 0 && !sink.write(bytes)) context.pause();
  };
  const { contentLength } = context;
  sink.begin(context.status, { ...context.headers, ...(contentLength === undefined || rewrites ? {} : { 'content-length': contentLength }) });
  return {
    take: (chunk) => {
      if (isJson) tail = lastOf(tail, chunk);
      if (!rewrites) {
        write(chunk);
        return;
      }
      const hidden = hider.hide(Buffer.concat([back, chunk]));
      const ready = Math.max(0, hidden.length - OVERLAP_BYTES);
      back = hidden.subarray(ready);
      write(hidden.subarray(0, ready));
    },
    end: (trailers) => {
      sink.end(back.length === 0 ? undefined : back, trailers);
    },
    broken: () => {
      sink.broken();
    },
    beat: () => undefined,
    progress: () => ({ begun: true, textBytes: tail.length, usage: isJson ? usageInBytes(tail, call) : undefined }),
  };
}

function lastOf(tail: Buffer, chunk: Buffer): Buffer {
  if (chunk.length >= TAIL_BYTES) return chunk.subarray(chunk.length - TAIL_BYTES);
  const whole = Buffer.concat([tail, chunk]);
  return whole.length <= TAIL_BYTES ? whole : whole.subarray(whole.length - TAIL_BYTES);
}
