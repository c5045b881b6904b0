import { startSandbox, type SandboxOptions } from '../sandbox.ts';
import { manualClock, type ManualClock } from './manual-clock.ts';

export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: unknown;
};

/** A sandbox on a free port, with a clock that the test moves, a renderer that costs nothing, and a client. */
export type RunningSandbox = {
  readonly url: string;
  readonly clock: ManualClock;
  readonly faults: readonly unknown[];
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  /** The id of an accepted create. */
  created(path: string, body: unknown): Promise<string>;
  /** The task as a query answers it. */
  task(id: string): Promise<TaskReply>;
  stop(): Promise<void>;
};

export type TaskReply = {
  readonly id: string;
  readonly status: string;
  readonly content?: { readonly url?: string; readonly prompt?: string };
  readonly error?: { readonly code: string; readonly message: string };
  readonly usage: Readonly<Record<string, number>>;
  readonly [field: string]: unknown;
};

export const generationPath = '/v2/video_generation';
export const regenerationPath = '/v2/video_regeneration';
export const contextIrPath = '/v2/h3_context_ir';
export const queryPath = '/v2/query/video_generation';
export const fakeVideo = Uint8Array.from({ length: 1000 }, (_, index) => index % 256);

export async function runningSandbox({
  clock = manualClock(),
  ...options
}: Partial<SandboxOptions> & { readonly clock?: ManualClock } = {}): Promise<RunningSandbox> {
  const faults: unknown[] = [];
  const sandbox = await startSandbox({
    listen: '127.0.0.1:0',
    key: 'sandbox',
    clock,
    render: () => Promise.resolve(fakeVideo),
    report: (fault) => faults.push(fault),
    ...options,
  });
  const call: RunningSandbox['call'] = async (method, path, body, headers = {}) => {
    const sent = typeof body === 'string' ? body : JSON.stringify(body);
    const sentHeaders = { authorization: 'Bearer sandbox', ...headers };
    const response = await fetch(new URL(path, sandbox.url), {
      method,
      headers: sentHeaders,
      ...(body === undefined ? {} : { body: sent }),
    });
    const received = await response.text();
    return { status: response.status, headers: response.headers, text: received, body: parsed(received) };
  };
  return {
    url: sandbox.url,
    clock,
    faults,
    call,
    created: async (path, body) => {
      const { body: answer, text } = await call('POST', path, body);
      if (typeof answer !== 'object' || answer === null || !('task_id' in answer)) throw new Error(`refused: ${text}`);
      return String(answer.task_id);
    },
    task: async (id) => {
      const { body: answer } = await call('GET', `${queryPath}/${id}`);
      return (answer as { readonly task: TaskReply }).task;
    },
    stop: () => sandbox.stop(),
  };
}

function parsed(received: string): unknown {
  try {
    return JSON.parse(received);
  } catch {
    return undefined;
  }
}
