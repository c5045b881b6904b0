import type { Dispatcher } from 'undici';
import type { OpenPool } from '@reelgate/tasks/app';
import type { Draws } from './draws.ts';
import type { Faults } from './faults.ts';
import type { Scheduler } from './scheduler.ts';

const LATENCY_MS_MAX = 60;
/** How often each fault of the network happens to a request, while it is on. */
const FAULTY_REQUESTS = 0.03;

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
export function simulatedPools(options: PoolOptions): OpenPool {
  const { scheduler, draws, faults, log, hosts } = options;
  let requests = 0;
  const drawFate = (name: string): Fate => {
    if (faults.happens('refused connection', name, FAULTY_REQUESTS)) return 'refused';
    if (faults.happens('reset before the request', name, FAULTY_REQUESTS)) return 'reset before';
    if (faults.happens('reset after the request', name, FAULTY_REQUESTS)) return 'reset after';
    if (faults.happens('no answer', name, FAULTY_REQUESTS)) return 'no answer';
    return faults.happens('bad gateway after the request', name, FAULTY_REQUESTS) ? 'bad gateway' : 'answered';
  };
  return (origin) => ({
    dispatch: (request, handler) => {
      const answerRequest = hosts.get(origin);
      if (answerRequest === undefined) throw new Error(`no simulated upstream is at ${origin}`);
      requests += 1;
      const name = `upstream request ${requests}`;
      const process = scheduler.current();
      const exchange = openExchange(handler);
      const fate = drawFate(name);
      const deliver = (run: () => void): void => {
        scheduler.after(draws.whole(`${name} back`, 1, LATENCY_MS_MAX), process, run);
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
        if (fate === 'no answer') return;
        deliver(() => {
          if (fate === 'reset after') exchange.fail('ECONNRESET');
          else exchange.answer(fate === 'bad gateway' ? BAD_GATEWAY : answer);
        });
      });
      return true;
    },
    destroy: async () => undefined,
  });
}

function requestLine({ method, path }: Dispatcher.DispatchOptions): string {
  return `${method} ${path}`;
}

function readRequest({ method, path, body, headers }: Dispatcher.DispatchOptions): UpstreamRequest {
  const { authorization = '' } = headers as Readonly<Record<string, string>>;
  return {
    method,
    path,
    body: typeof body === 'string' ? (JSON.parse(body) as unknown) : undefined,
    authorization,
  };
}

interface Exchange {
  readonly controller: Dispatcher.DispatchController;
  start(): void;
  answer(answer: UpstreamAnswer): void;
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
  return {
    controller,
    start: () => handler.onRequestStart?.(controller, {}),
    answer: ({ status, text, headers = {} }) => {
      if (aborted) return;
      handler.onResponseStart?.(controller, status, headers);
      handler.onResponseData?.(controller, Buffer.from(text));
      handler.onResponseEnd?.(controller, {});
    },
    fail: (code) => {
      if (!aborted) handler.onResponseError?.(controller, Object.assign(new Error(code), { code }));
    },
  };
}
