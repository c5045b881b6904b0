import { STATUS_CODES } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import { inRequest, inTrace } from '@reelgate/platform/request-context';
import type { ReadSource } from '@reelgate/platform/source-address';
import type { MaybePromise } from '@reelgate/platform/maybe-promise';
import type { Log } from '@reelgate/platform/log';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import type { Span, Tracing } from '@reelgate/platform/trace/trace';
import type { Principal } from '../../clients/billing-client.ts';
import { findPrincipal, SESSION_FRESH_MS } from '../../operations/principals.ts';
import type { TokenCall } from '../../operations/principals.ts';
import type { Realtime } from '../realtime/realtime.ts';
import { readHandshake } from '../realtime/handshake.ts';
import type { AdmitDeps } from '../../http/admission/admit.ts';
import { toAnswer, toProblem } from '../../http/answer-problem.ts';
import { readTokens } from '../../http/admission/admit.ts';
import type { Upgrades } from '../../http/http-server.ts';
import { takeRate } from '../../http/admission/limit-rate.ts';
import { readAnnotations, readOrCreateRequestId } from '../../http/headers.ts';
import { requestCounter } from '../../http/request-counter.ts';
import { endRequestSpan } from '../../http/request-span.ts';

const PATH = '/v1/realtime';
const SWITCHED = 101;

export interface UpgradeDeps {
  readonly realtime: Realtime;
  readonly admission: AdmitDeps;
  readonly readSource: ReadSource;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
}

/** Handles the upgrades to realtime sessions. A refusal is a plain HTTP answer, before the protocol changes. */
export function realtimeUpgrades(deps: UpgradeDeps): Upgrades {
  const countRequest = requestCounter(deps.metrics);
  return {
    wants: ({ url = '', headers }) =>
      (url === PATH || url.startsWith(`${PATH}?`)) && headers.upgrade?.toLowerCase() === 'websocket',
    handle: (request, socket, head) => {
      const [requestId, startedAt] = [
        readOrCreateRequestId(request.headers['x-request-id'], deps.newId),
        deps.clock.now(),
      ];
      const client = request.headers['traceparent'];
      const span = deps.tracing.root(`GET ${PATH}`, {
        class: 'call',
        kind: 'server',
        client: typeof client === 'string' ? client : undefined,
      });
      const session = (): Promise<UpgradeEnd> => admitAndServe(deps, { request, socket, head, requestId, span });
      void inRequest(requestId, () => inTrace(span.traceId, session)).then((end) => {
        countRequest({ route: PATH, kind: 'relay', method: 'GET', status: end.status, reason: end.reason });
        span.set({ 'reelgate.realtime.ended_by': end.endedBy, 'reelgate.realtime.close_code': end.code });
        endRequestSpan(span, { ...end, method: 'GET', route: PATH, requestId });
        const fields = {
          requestId,
          method: 'GET',
          route: PATH,
          ms: deps.clock.now() - startedAt,
          trace_id: span.traceId,
          ...end,
        };
        deps.log.access({ level: 'info', failed: end.status !== SWITCHED }, fields, 'request');
      });
    },
  };
}

interface UpgradeRequest {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly requestId: string;
  readonly span: Span;
}

/** For the log line. */
interface UpgradeEnd {
  readonly status: number;
  readonly reason?: string;
  readonly accountId?: string;
  readonly tokenId?: string;
  readonly model?: string;
  readonly endedBy?: string;
  readonly code?: number;
}

async function admitAndServe(
  { realtime, admission, log, readSource }: UpgradeDeps,
  upgrade: UpgradeRequest,
): Promise<UpgradeEnd> {
  const { request, socket, requestId, span } = upgrade;
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  socket.on('error', () => gone.abort());
  try {
    const call: TokenCall = { requestId, span, source: () => readSource(request) };
    const { token, principal } = await findPrincipal(admission.principals, readTokens(request.headers), call);
    const principalNow = (): MaybePromise<Principal> =>
      admission.principals.of(token, { ...call, freshMs: SESSION_FRESH_MS });
    await takeRate(admission, principal, 'calls');
    const handshake = readHandshake(request);
    const label = readAnnotations(request.headers).label ?? principal.label;
    const end = await realtime.serve({ ...upgrade, handshake, principal, label, principalNow, gone: gone.signal });
    const who = { accountId: principal.accountId, tokenId: principal.tokenId, model: handshake.model };
    if ('by' in end) return { status: SWITCHED, ...who, endedBy: end.by, code: end.code };
    refuseUpgrade(socket, {
      status: end.status,
      headers: {
        'x-request-id': requestId,
        ...(end.retryAfter === undefined ? {} : { 'retry-after': end.retryAfter }),
      },
      body: end.body ?? defaultBody(end.status),
    });
    return { status: end.status, ...who };
  } catch (thrown) {
    const problem = toProblem(thrown);
    if (problem.kind === 'internal') log.error({ requestId, route: PATH, err: thrown }, 'a request failed');
    const { status, headers, body } = toAnswer(problem, { path: PATH, requestId });
    refuseUpgrade(socket, {
      status,
      headers: { 'x-request-id': requestId, ...headers },
      body: Buffer.from(JSON.stringify(body)),
    });
    return { status, reason: problem.reason };
  }
}

interface UpgradeRefusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

function refuseUpgrade(socket: Duplex, { status, headers, body }: UpgradeRefusal): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const all = Object.entries({
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(body.length),
    'cache-control': 'no-store',
    connection: 'close',
  });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    ...all.map(([name, value]) => `${name}: ${value}`),
  ];
  // a client that keeps its end open would keep the connection, and no other code closes it
  socket.once('finish', () => socket.destroy());
  socket.end(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]));
}

/** The body for a refusal of an upstream that has no readable body. */
function defaultBody(status: number): Buffer {
  return Buffer.from(
    JSON.stringify({
      error: {
        message: `the model refused the session with status ${status}`,
        type: status >= 500 ? 'server_error' : 'invalid_request_error',
        param: null,
        code: 'upstream_refused',
      },
    }),
  );
}
