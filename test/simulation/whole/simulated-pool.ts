import type { Dispatcher } from 'undici';
import type { OpenRelayPool } from '@reelgate/gateway/clients/gateway-clients';
import type { OpenPool } from '@reelgate/tasks/app';
import type { Draws } from './draws.ts';
import type { Faults } from './faults.ts';
import type { Scheduler } from './scheduler.ts';

const LATENCY_MS_MAX = 60;
/** How often each fault of the network happens to a request, while it is on. */
const FAULTY_REQUESTS = 0.03;
const BROKEN_STREAMS = 0.3;
/** Of the polls, this part has a slow answer, so that a cancel can end the task meanwhile. */
const SLOW_POLLS = 0.1;
const SLOW_POLL_MS_MAX = 3000;
const PART_MS_MAX = 300;

export interface UpstreamRequest {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly authorization: string;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The text in pieces, which arrive one after another. */
  readonly parts?: readonly string[];
  /** How long the upstream takes for it; none if undefined. */
  readonly answerMs?: number;
}

/** A host of an upstream. `name` is that of the request, for choices. */
export type AnswerRequest = (request: UpstreamRequest, name: string) => UpstreamAnswer;

export interface PoolOptions {
  readonly scheduler: Scheduler;
  readonly draws: Draws;
  readonly faults: Faults;
  readonly log: (text: string) => void;
  /** By their origins. */
  readonly hosts: ReadonlyMap<string, AnswerRequest>;
}

const BAD_GATEWAY: UpstreamAnswer = { status: 502, text: '<html><body>502 Bad Gateway</body></html>' };

/** What becomes of a request on its way. */
type Fate = 'refused' | 'reset before' | 'reset after' | 'no answer' | 'bad gateway' | 'answered';

/** Opens connections that lead to the simulated upstreams, over a network that loses requests and answers. */
export function simulatedPools(options: PoolOptions): OpenPool & OpenRelayPool {
  const { scheduler, draws, faults, log, hosts } = options;
  const nameRequest = newRequestNames();
  const drawFate = (name: string): Fate => {
    if (faults.happens('refused connection', name, FAULTY_REQUESTS)) return 'refused';
    if (faults.happens('reset before the request', name, FAULTY_REQUESTS)) return 'reset before';
    if (faults.happens('reset after the request', name, FAULTY_REQUESTS)) return 'reset after';
    if (faults.happens('no answer', name, FAULTY_REQUESTS)) return 'no answer';
    return faults.happens('bad gateway after the request', name, FAULTY_REQUESTS) ? 'bad gateway' : 'answered';
  };
  const streamAnswer = (exchange: Exchange, parts: readonly string[], answer: UpstreamAnswer, name: string): void => {
    const process = scheduler.current();
    const breaksAt = faults.happens('broken stream', name, BROKEN_STREAMS)
      ? draws.whole(`upstream ${name} breaks`, 1, parts.length)
      : Infinity;
    exchange.begin(answer);
    const next = (part: number): void => {
      if (part === breaksAt) exchange.fail('UND_ERR_SOCKET');
      else if (part === parts.length) exchange.end();
      else {
        exchange.take(parts[part] ?? '');
        scheduler.after(draws.whole(`upstream ${name} part ${part}`, 1, PART_MS_MAX), process, () => {
          next(part + 1);
        });
      }
    };
    next(0);
  };
  return (origin: string, settings: unknown) => ({
    dispatch: (request, handler) => {
      const answerRequest = hosts.get(origin);
      if (answerRequest === undefined) throw new Error(`no simulated upstream is at ${origin}`);
      const name = nameRequest(request);
      const process = scheduler.current();
      const exchange = openExchange(handler);
      const fate = drawFate(name);
      const isSlow = request.method === 'GET' && draws.happens(`${name} is slow`, SLOW_POLLS);
      const slowMs = isSlow ? draws.whole(`${name} slow by`, 1, SLOW_POLL_MS_MAX) : 0;
      const deliver = (run: () => void, afterMs = slowMs): void => {
        scheduler.after(afterMs + draws.whole(`${name} back`, 1, LATENCY_MS_MAX), process, run);
      };
      exchange.start();
      scheduler.after(draws.whole(`${name} out`, 1, LATENCY_MS_MAX), scheduler.world, () => {
        // a connection that was closed before its request arrived
        if (exchange.controller.aborted) return;
        const said = `${requestLine(request)} of ${process.name}: ${fate}`;
        if (fate === 'refused' || fate === 'reset before') {
          log(said);
          deliver(() => {
            exchange.fail(fate === 'refused' ? 'ECONNREFUSED' : 'ECONNRESET');
          });
          return;
        }
        const answer = answerRequest(readRequest(request), name);
        log(`${said} ${answer.status} ${answer.text.slice(0, 120)}`);
        if (fate === 'no answer') {
          endLate(exchange, settings, (ms, run) => scheduler.after(ms, process, run));
          return;
        }
        deliver(() => {
          if (fate === 'reset after') exchange.fail('ECONNRESET');
          else if (fate === 'bad gateway' || answer.parts === undefined)
            exchange.answer(fate === 'bad gateway' ? BAD_GATEWAY : answer);
          else streamAnswer(exchange, answer.parts, answer, name);
        }, answer.answerMs);
      });
      return true;
    },
    request: refuseRequest,
    close: async () => undefined,
    destroy: async () => undefined,
  });
}

/** The check of an operator's command is no part of a run. */
function refuseRequest(): never {
  throw new Error('the simulation sends no request of a check');
}

/** The connections of relayed calls have time-outs of their own; those of tasks leave them to their callers. */
function endLate(exchange: Exchange, settings: unknown, after: (ms: number, run: () => void) => void): void {
  if (typeof settings !== 'object' || settings === null) return;
  const { firstByteTimeoutMs } = settings as { readonly firstByteTimeoutMs: number };
  after(firstByteTimeoutMs, () => {
    exchange.fail('UND_ERR_HEADERS_TIMEOUT');
  });
}

const ORDER_MARK = /(?:order|call)-\d+/;

/**
 * Names a request by what it asks for, by the order or call in its body, and by how often that was asked before. So a
 * run without one of its orders leaves the requests for the others as they are.
 */
function newRequestNames(): (request: Dispatcher.DispatchOptions) => string {
  const counts = new Map<string, number>();
  return (request) => {
    const [order = ''] = ORDER_MARK.exec(readText(request.body)) ?? [];
    // a request for several works is named by the first one
    const asked = `upstream ${requestLine(request).replace(/,.*$/, '')} ${order}`;
    const count = (counts.get(asked) ?? 0) + 1;
    counts.set(asked, count);
    return `${asked} ${count}`;
  };
}

/** The text of a body; empty: there is none. */
function readText(body: unknown): string {
  if (typeof body === 'string') return body;
  return Buffer.isBuffer(body) ? body.toString() : '';
}

function requestLine({ method, path }: Dispatcher.DispatchOptions): string {
  return `${method} ${path}`;
}

function readRequest({ method, path, body, headers }: Dispatcher.DispatchOptions): UpstreamRequest {
  const { authorization = '' } = headers as Readonly<Record<string, string>>;
  const text = readText(body);
  return {
    method,
    path,
    body: text === '' ? undefined : (JSON.parse(text) as unknown),
    authorization,
  };
}

interface Exchange {
  readonly controller: Dispatcher.DispatchController;
  start(): void;
  answer(answer: UpstreamAnswer): void;
  begin(answer: UpstreamAnswer): void;
  take(text: string): void;
  end(): void;
  fail(code: string): void;
}

/** The side of the connection that calls the handler, as undici does. */
function openExchange(handler: Dispatcher.DispatchHandler): Exchange {
  let [aborted, reason]: [boolean, Error | null] = [false, null];
  const controller: Dispatcher.DispatchController = {
    get aborted() {
      return aborted;
    },
    get reason() {
      return reason;
    },
    paused: false,
    pause: () => undefined,
    resume: () => undefined,
    abort: (why) => {
      if (aborted) return;
      [aborted, reason] = [true, why];
      handler.onResponseError?.(controller, why);
    },
  };
  const begin = ({ status, headers = {} }: UpstreamAnswer): void => {
    if (!aborted) handler.onResponseStart?.(controller, status, headers);
  };
  const take = (text: string): void => {
    if (!aborted) handler.onResponseData?.(controller, Buffer.from(text));
  };
  const end = (): void => {
    if (!aborted) handler.onResponseEnd?.(controller, {});
  };
  return {
    controller,
    start: () => handler.onRequestStart?.(controller, {}),
    answer: (answer) => {
      begin(answer);
      take(answer.text);
      end();
    },
    ...{ begin, take, end },
    fail: (code) => {
      if (!aborted) handler.onResponseError?.(controller, Object.assign(new Error(code), { code }));
    },
  };
}
