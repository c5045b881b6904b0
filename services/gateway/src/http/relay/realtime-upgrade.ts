import { STATUS_CODES } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import { inRequest } from '@reelgate/platform/request-context';
import type { Log } from '@reelgate/platform/log';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import type { Principal } from '../../clients/billing-client.ts';
import type { Realtime } from '../../relay/realtime/realtime.ts';
import { readHandshake } from '../../relay/realtime/handshake.ts';
import type { AdmitDeps } from '../admission/admit.ts';
import { answerTo, toProblem } from '../answer-problem.ts';
import { tokenOf } from '../admission/credentials.ts';
import type { Upgrades } from '../http-server.ts';
import { takeRate } from '../admission/limit-rate.ts';
import { requestIdOf } from '../headers/request-id.ts';
import { requestCounter } from '../request-counter.ts';

const PATH = '/v1/realtime';
const SWITCHED = 101;

export interface UpgradeDeps {
  readonly realtime: Realtime;
  readonly admission: AdmitDeps;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Handles the upgrades to realtime sessions. A refusal is a plain HTTP answer, before the protocol changes. */
export function realtimeUpgrades(deps: UpgradeDeps): Upgrades {
  const countRequest = requestCounter(deps.metrics);
  return {
    wants: ({ url = '', headers }) =>
      (url === PATH || url.startsWith(`${PATH}?`)) && headers.upgrade?.toLowerCase() === 'websocket',
    handle: (request, socket, head) => {
      const [requestId, startedAt] = [requestIdOf(request.headers['x-request-id'], deps.newId), deps.clock.now()];
      void inRequest(requestId, () => admitted(deps, { request, socket, head, requestId })).then((end) => {
        countRequest({ route: PATH, method: 'GET', status: end.status });
        deps.log.info({ requestId, method: 'GET', route: PATH, ms: deps.clock.now() - startedAt, ...end }, 'request');
      });
    },
  };
}

interface UpgradeRequest {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly requestId: string;
}

/** For the log line. */
interface UpgradeEnd {
  readonly status: number;
  readonly [field: string]: unknown;
}

async function admitted({ realtime, admission, log }: UpgradeDeps, upgrade: UpgradeRequest): Promise<UpgradeEnd> {
  const { request, socket, requestId } = upgrade;
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  socket.on('error', () => gone.abort());
  try {
    const token = tokenOf(request.headers);
    const principalNow = (): Promise<Principal> => admission.principals.of(token, requestId);
    const principal = await principalNow();
    await takeRate(admission, principal, 'calls');
    const handshake = readHandshake(request);
    const end = await realtime.serve({ ...upgrade, handshake, principal, principalNow, gone: gone.signal });
    const who = { accountId: principal.accountId, tokenId: principal.tokenId, model: handshake.model };
    if ('by' in end) return { status: SWITCHED, ...who, endedBy: end.by, code: end.code };
    refuse(socket, {
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
    const { status, headers, body } = answerTo(problem, { path: PATH, requestId });
    refuse(socket, {
      status,
      headers: { 'x-request-id': requestId, ...headers },
      body: Buffer.from(JSON.stringify(body)),
    });
    return { status };
  }
}

interface Refused {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

function refuse(socket: Duplex, { status, headers, body }: Refused): void {
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
    `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}`,
    ...all.map(([name, value]) => `${name}: ${value}`),
  ];
  // a client that keeps its end open would keep the connection, which nothing else closes
  socket.once('finish', () => socket.destroy());
  socket.end(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]));
}

/** The body for a refusal of an upstream that has no readable body. */
function defaultBody(status: number): Buffer {
  return Buffer.from(
    JSON.stringify({
      error: {
        message: `the model refused the session with status ${String(status)}`,
        type: status >= 500 ? 'server_error' : 'invalid_request_error',
        param: null,
        code: 'upstream_refused',
      },
    }),
  );
}
