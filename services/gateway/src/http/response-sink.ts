import type { ServerResponse } from 'node:http';
import type { CallSink } from '../relay/call-sink.ts';

const SHORT_BYTES = 16 * 1024;

/** A client's connection as the place where an answer goes. */
export function responseSink(response: ServerResponse): CallSink {
  let isFull = false;
  let resume: (() => void) | undefined;
  const write = (chunk: Buffer): boolean => {
    if (response.destroyed || response.write(chunk)) return true;
    if (!isFull) {
      isFull = true;
      response.once('drain', () => {
        isFull = false;
        resume?.();
      });
    }
    return false;
  };
  return {
    begin: (status, headers) => {
      response.statusCode = status;
      for (const name in headers) response.setHeader(name, headers[name] ?? '');
      // a stream's head leaves before its first event does; any other leaves with its first bytes
      if (headers['content-length'] === undefined) response.flushHeaders();
    },
    write,
    onDrain: (next) => { resume = next; },
    end: (chunk, trailers) => {
      if (response.destroyed) return;
      if (Object.keys(trailers).length > 0) response.addTrailers(trailers as Record<string, string>);
      if (chunk === undefined) response.end();
      // a short text leaves in one piece with the head
      else if (chunk.length <= SHORT_BYTES) response.end(chunk.toString('latin1'), 'latin1');
      else response.end(chunk);
    },
    broken: () => {
      response.destroy();
    },
  };
}
