import type { RootOptions, Span, TraceClass, Tracing } from '@reelgate/platform/trace/trace';
import { NO_SPAN, NO_TRACING } from '@reelgate/platform/trace/trace';
import type { Exchange } from './http-exchange.ts';
import type { Count, RouteEntry } from './routes/route.ts';

const FAULT = 500;

const CLASSES: Readonly<Record<Count, TraceClass>> = {
  creates: 'create',
  calls: 'call',
  reads: 'read',
  console: 'read',
};

/**
 * Begins the trace of a request once its route is known. A request that is not recorded costs one random draw, and does
 * not even cost that if tracing is off.
 */
export type BeginRequestSpan = (exchange: Exchange, entry: RouteEntry) => Span;

export function requestSpans(tracing: Tracing): BeginRequestSpan {
  if (tracing === NO_TRACING) return () => NO_SPAN;
  const options = new Map<RouteEntry, RootOptions>();
  return ({ method, req }, entry) => {
    const known = options.get(entry) ?? buildRootOptions(entry);
    options.set(entry, known);
    const client = req.headers['traceparent'];
    const name = `${method} ${entry.path}`;
    return tracing.root(name, typeof client === 'string' ? { ...known, client } : known);
  };
}

/** The facts of a request that are known at its end. */
export interface RequestEnd {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly requestId: string;
  readonly accountId?: string | undefined;
  readonly taskId?: string | undefined;
  /** Only of a model that exists: otherwise it is a text of the client. */
  readonly model?: string | undefined;
  readonly tool?: string | undefined;
}

/**
 * Ends the span of a request. It has no path, no query and no address: a path can hold a signature. A refusal of the
 * client's request is no failure of ours.
 */
export function endRequestSpan(span: Span, ended: RequestEnd): void {
  if (span === NO_SPAN) return;
  const { method, route, status, requestId, accountId, taskId, model, tool } = ended;
  span.set({
    'http.request.method': method,
    'http.route': route,
    'http.response.status_code': status,
    'reelgate.request.id': requestId,
    'reelgate.account.id': accountId,
    'reelgate.task.id': taskId,
    'gen_ai.request.model': status < 400 ? model : undefined,
    'gen_ai.tool.name': tool,
  });
  if (status >= FAULT) span.fail(String(status));
  span.end();
}

function buildRootOptions({ token, traced }: RouteEntry): RootOptions {
  const kind = traced ?? (token === undefined ? 'read' : CLASSES[token.counts]);
  return { class: kind, kind: 'server' };
}
