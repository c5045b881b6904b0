import type { ServerResponse } from 'node:http';

/**
 * The end of an exchange: its response has been sent, or its client has left. One listener serves all parts, because
 * a response warns of more than ten listeners and a listener costs each request time.
 */
export interface ExchangeEnd {
  /** Runs the work at the end; at once if the exchange is over. */
  readonly whenOver: (work: () => void) => void;
  /** Aborted when the client leaves before it has its answer. The signal exists from the first call on. */
  readonly gone: () => AbortSignal;
}

export function exchangeEnd(response: ServerResponse): ExchangeEnd {
  const works: (() => void)[] = [];
  let isOver = false;
  let gone: AbortController | undefined;
  const abortUnanswered = (): void => {
    if (isOver && !response.writableFinished) gone?.abort();
  };
  response.once('close', () => {
    isOver = true;
    abortUnanswered();
    for (const work of works) work();
  });
  return {
    whenOver: (work) => {
      if (isOver) work();
      else works.push(work);
    },
    gone: () => {
      if (gone === undefined) {
        gone = new AbortController();
        abortUnanswered();
      }
      return gone.signal;
    },
  };
}
