import type { AnswerHeaders, CallSink } from '../relay/answers/call-sink.ts';

export interface CollectedAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

export interface CollectingSink extends CallSink {
  /** Aborted when the answer is longer than it may be. */
  readonly overflow: AbortSignal;
  answer(): CollectedAnswer;
}

/** Collects the answer of an asynchronous job, up to `bytesMax`. */
export function collectingSink(bytesMax: number): CollectingSink {
  const overflow = new AbortController();
  let head: { readonly status: number; readonly headers: AnswerHeaders } = { status: 0, headers: {} };
  let chunks: Buffer[] = [];
  let bytes = 0;
  const take = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes <= bytesMax) {
      chunks.push(chunk);
      return;
    }
    chunks = [];
    overflow.abort();
  };
  return {
    overflow: overflow.signal,
    begin: (status, headers) => {
      head = { status, headers };
    },
    write: (chunk) => {
      take(chunk);
      return true;
    },
    onDrain: () => undefined,
    end: (chunk) => {
      if (chunk !== undefined) take(chunk);
    },
    broken: () => undefined,
    answer: () => ({
      status: head.status,
      contentType: String(head.headers['content-type'] ?? ''),
      body: Buffer.concat(chunks),
    }),
  };
}
