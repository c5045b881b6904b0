import { AsyncLocalStorage } from 'node:async_hooks';

const VALID = /^[\w.:/+=@-]{1,128}$/;
/** Node copies the map of all storages at each change of one, so there is one storage. */
const current = new AsyncLocalStorage<WorkContext>();
const NONE: WorkContext = { requestId: undefined, traceId: undefined };

/** The request and the recorded trace that some work belongs to. */
export interface WorkContext {
  readonly requestId: string | undefined;
  readonly traceId: string | undefined;
}

/**
 * Reads the request id that a caller sends. Returns an empty text if there is no id, or if it is not allowed in a
 * header or a log.
 */
export function readRequestId(header: string | readonly string[] | undefined): string {
  return typeof header === 'string' && VALID.test(header) ? header : '';
}

export function currentContext(): WorkContext {
  return current.getStore() ?? NONE;
}

function inContext<T>(context: WorkContext, work: () => T): T {
  const { requestId, traceId } = currentContext();
  return context.requestId === requestId && context.traceId === traceId ? work() : current.run(context, work);
}

/**
 * Runs work for a request, so that each log line and each call of the work has its id. Without an id it just runs the
 * work.
 */
export function inRequest<T>(requestId: string, work: () => T): T {
  return requestId === '' ? work() : inContext({ requestId, traceId: currentTraceId() }, work);
}

/** The request that the running work belongs to. */
export function currentRequestId(): string | undefined {
  return currentContext().requestId;
}

/** Runs work of a recorded trace: each log line of it has its id. Spans are passed on explicitly. */
export function inTrace<T>(traceId: string | undefined, work: () => T): T {
  return traceId === undefined ? work() : inContext({ requestId: currentRequestId(), traceId }, work);
}

/** The recorded trace that the running work belongs to. */
export function currentTraceId(): string | undefined {
  return currentContext().traceId;
}

/**
 * Runs work that belongs to no request, such as a batch or a timer that many requests share. Whichever request happens
 * to begin it would otherwise have its id on the log lines and the calls of the work, and so in the lines of others.
 */
export function outsideRequests<T>(work: () => T): T {
  return inContext(NONE, work);
}

/**
 * Runs work for several requests together: in their request and trace if they share it, and otherwise without a
 * request.
 */
export function inSharedContext<T>([first = NONE, ...others]: readonly WorkContext[], work: () => T): T {
  const isOne = others.every(({ requestId, traceId }) => requestId === first.requestId && traceId === first.traceId);
  return inContext(isOne ? first : NONE, work);
}

/** The header that passes the id on over HTTP. */
export function requestIdHeader(): Readonly<Record<string, string>> {
  const requestId = currentRequestId();
  return requestId === undefined ? {} : { 'x-request-id': requestId };
}
