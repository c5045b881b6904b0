import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { CallSink } from '../../relay/answers/call-sink.ts';

/** Writes the answer of a call to the client. Its headers override those that the response already has. */
export function responseSink(response: ServerResponse): CallSink {
  let isFull = false;
  let hasSentHead = false;
  let resume: (() => void) | undefined;
  const write = (chunk: Buffer): boolean => {
    hasSentHead = true;
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
      response.writeHead(status, headers as OutgoingHttpHeaders);
      if (headers['content-length'] !== undefined) return;
      // a stream sends its head before its first event, but together with an event that has come already
      queueMicrotask(() => {
        if (!hasSentHead && !response.destroyed) response.flushHeaders();
      });
    },
    write,
    onDrain: (next) => {
      resume = next;
    },
    end: (chunk, trailers) => {
      hasSentHead = true;
      if (response.destroyed) return;
      if (Object.keys(trailers).length > 0) response.addTrailers(trailers as Record<string, string>);
      if (chunk === undefined) response.end();
      else response.end(chunk);
    },
    broken: () => {
      response.destroy();
    },
  };
}
