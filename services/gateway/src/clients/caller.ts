import type { CallOptions } from '@reelgate/platform/rpc/service';
import type { Span } from '@reelgate/platform/trace/trace';

const DEADLINE_MS = 10_000;

/** The request that causes a call to another service. */
export interface Caller {
  readonly requestId?: string | undefined;
  readonly span?: Span | undefined;
}

/** The account that owns the read data, and the request that causes a call. */
export interface AccountCaller extends Caller {
  readonly accountId: string;
  readonly requestId: string;
}

/** Makes a call for this request, with a deadline of 10 seconds or of `timeoutMs`. */
export function withDeadline({ requestId, span }: Caller, timeoutMs = DEADLINE_MS): CallOptions {
  return { requestId, span, timeoutMs };
}
