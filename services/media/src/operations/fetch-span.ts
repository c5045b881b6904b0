import type { Span } from '@reelgate/platform/trace/trace';
import { NO_SPAN } from '@reelgate/platform/trace/trace';
import type { ReceivedFile } from '../blobs/incoming.ts';
import { FetchFault } from '../domain/fetch-fault.ts';

/** The span of a fetch, which ends when the file has arrived or the fetch has failed. */
export interface FetchSpan {
  arrived(file: ReceivedFile): void;
  failed(error: unknown): void;
}

/**
 * Begins the span of a fetch. The span has no address, because the address of a result is signed and contains the host
 * of an upstream.
 */
export function beginFetch(parent: Span | undefined): FetchSpan | undefined {
  if (parent === undefined || parent === NO_SPAN) return undefined;
  const span = parent.child('fetch', { kind: 'client' });
  return {
    arrived: ({ bytes }) => {
      span.set({ 'http.response.body.size': bytes });
      span.end();
    },
    // A file that has arrived can still be refused. That does not reach this span, because it has ended.
    failed: (error) => {
      span.fail(error instanceof FetchFault ? error.code : 'fault');
      span.end();
    },
  };
}
