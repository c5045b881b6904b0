import { setTimeout as wait } from 'node:timers/promises';

const FINISH_TIMEOUT_MS = 100_000;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // The tests say what they expect of it.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a body of any dialect, compared by matchers
  readonly json: any;
}

/** A client of the public API with one token. */
export interface HttpCaller {
  call(method: string, target: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Makes a create that must succeed. Returns the task id. */
  create(target: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<string>;
  /** Reads the task, with waiting reads, until it has this status. */
  finish(taskId: string, status?: string): Promise<Answer>;
}

/** `timeoutMs` bounds each call. */
export function httpCaller(base: string, token: string | undefined, timeoutMs = FINISH_TIMEOUT_MS): HttpCaller {
  const caller: HttpCaller = {
    call: async (method, target, body, headers = {}) => {
      const response = await fetch(base + target, {
        method,
        signal: AbortSignal.timeout(timeoutMs),
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, json: parsed(text) };
    },
    create: async (target, body, headers) => {
      const answer = await caller.call('POST', target, body, headers);
      if (answer.status !== 200) throw new Error(`${target} answered ${answer.status}: ${answer.text}`);
      return (answer.json as { task_id: string }).task_id;
    },
    finish: async (taskId, status = 'completed') => {
      const deadline = performance.now() + FINISH_TIMEOUT_MS;
      for (;;) {
        const answer = await caller.call('GET', `/v1/videos/${taskId}`, undefined, { prefer: 'wait=10' });
        const now = (answer.json as { status?: string } | undefined)?.status;
        if (now === status) return answer;
        if (now === 'failed' || now === 'completed' || performance.now() > deadline)
          throw new Error(`${taskId} is ${answer.text}, expected ${status}`);
        await wait(20);
      }
    },
  };
  return caller;
}

/** The body of a read without the charge, which bodies of events do not have. */
export function dropCharge(body: unknown): unknown {
  const { charge: _charge, usage, ...task } = body as { readonly charge?: object; readonly usage?: object };
  const { cost: _cost, ...quantities } = { cost: undefined, ...usage };
  return Object.keys(quantities).length === 0 ? task : { ...task, usage: quantities };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
