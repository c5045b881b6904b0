import type { OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { AnswerHeaders, CallSink } from '../../relay/answers/call-sink.ts';

const SHORT_BYTES = 16 * 1024;

/** A client's connection as the place where an answer goes. The head is what every answer here has, unless this one has its own. */
export function responseSink(response: ServerResponse, head: readonly string[] = []): CallSink {
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
      response.writeHead(status, headOf(head, headers));
      // a stream's head leaves before its first event does; any other leaves with its first bytes
      if (headers['content-length'] === undefined) response.flushHeaders();
    },
    write,
    onDrain: (next) => {
      resume = next;
    },
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

/** Names and values in turn, as they are written: to set them one by one takes thrice as long. */
function headOf(own: readonly string[], headers: AnswerHeaders): OutgoingHttpHeader[] {
  const head: OutgoingHttpHeader[] = [];
  for (let at = 0; at < own.length; at += 2) {
    const [name = '', value = ''] = [own[at], own[at + 1]];
    if (headers[name] === undefined) head.push(name, value);
  }
  for (const name in headers) head.push(name, headers[name] as OutgoingHttpHeader);
  return head;
}
