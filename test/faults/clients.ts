import { setTimeout as wait } from 'node:timers/promises';
import { seeded } from '../harness/seeded.ts';
import type { Seeded } from '../harness/seeded.ts';
import { KEYS } from '../harness/test-config.ts';
import type { Kind, Note } from './notes.ts';

const CALL_TIMEOUT_MS = 40_000;
const REPEAT_MS = 200;
const TRIES_MAX = 300;
/** Reads choose among the newest tasks. */
const KNOWN_TASKS = 60;
const STREAM_END = 'data: [DONE]';

/** An order, with the task that it became. */
export interface Order {
  readonly mark: string;
  readonly taskId: string;
}

export interface Load {
  /** Every request, in the order of the answers. */
  readonly notes: readonly Note[];
  /** The orders whose answer was a task. */
  readonly orders: readonly Order[];
  /** Lets each client finish its request. Orders without an answer are repeated until they have one. */
  end(): Promise<void>;
}

export interface LoadPlan {
  readonly base: string;
  readonly seed: number;
  /** Creates a second, over both dialects. */
  readonly createsPerSecond: number;
  /** Requests of all other kinds a second. */
  readonly othersPerSecond: number;
}

interface Client {
  readonly base: string;
  readonly notes: Note[];
  readonly orders: Order[];
  /** Tasks that a client has seen completed. */
  readonly completed: string[];
  readonly chance: Seeded;
}

type Act = (client: Client) => Promise<void>;

/** Requests start at their times, however long earlier ones take. */
export function startLoad({ base, seed, createsPerSecond, othersPerSecond }: LoadPlan): Load {
  const client: Client = { base, notes: [], orders: [], completed: [], chance: seeded(seed) };
  const running = new Set<Promise<void>>();
  const over = new AbortController();
  let orders = 0;
  const begin = (act: Promise<void>): void => {
    running.add(act);
    void act.finally(() => running.delete(act));
  };
  const paced = async (perSecond: number, act: () => Promise<void>): Promise<void> => {
    const start = performance.now();
    for (let count = 1; !over.signal.aborted; count += 1) {
      begin(act());
      const at = start + (count * 1000) / perSecond;
      await wait(Math.max(0, at - performance.now()), undefined, { signal: over.signal }).catch(() => undefined);
    }
  };
  const pacers = [
    paced(createsPerSecond, () => order(client, `s${seed}n${(orders += 1)}`, orders % 2 === 0)),
    paced(othersPerSecond, () => client.chance.pick(OTHERS)(client)),
  ];
  return {
    notes: client.notes,
    orders: client.orders,
    end: async () => {
      over.abort();
      await Promise.all(pacers);
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** Repeats one order under its key until it is a task. Each try is noted. */
async function order(client: Client, mark: string, isVendors: boolean): Promise<void> {
  const [kind, target] = isVendors
    ? (['create /v2', '/v2/video_generation'] as const)
    : (['create /v1', '/v1/videos'] as const);
  const words = client.chance.pick(['', '', '[slow:300]', '[take:1500]']);
  const content = [{ type: 'text', text: `a red boat [mark:${mark}] ${words}` }];
  const body = { model: 'Alpha-H3', content, duration: 5, resolution: '768P', ratio: '16:9' };
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const answer = await call(client, kind, { method: 'POST', target, body, key: `key-${mark}` });
    const taskId = (parsed(answer.text) as { task_id?: string } | undefined)?.task_id;
    if (answer.status === 200 && taskId !== undefined) {
      client.orders.push({ mark, taskId });
      return;
    }
    await wait(REPEAT_MS);
  }
  throw new Error(`the order ${mark} got no task`);
}

const OTHERS: readonly Act[] = [
  (client) => read(client, 'read'),
  (client) => read(client, 'read'),
  (client) => read(client, 'read'),
  (client) => read(client, 'waiting read', { prefer: 'wait=3' }),
  async (client) => {
    const taskId = client.completed.at(-1 - client.chance.whole(0, 9));
    if (taskId !== undefined) await call(client, 'download', { target: `/v1/videos/${taskId}/content` });
  },
  async (client) => {
    await chat(client, 'relayed call', '[slow:200]', false);
  },
  async (client) => {
    await chat(client, 'relayed stream', '[pieces:12] [pace:100]', true);
  },
];

async function read(client: Client, kind: Kind, headers: Readonly<Record<string, string>> = {}): Promise<void> {
  const known = client.orders.slice(-KNOWN_TASKS);
  if (known.length === 0) return;
  const { taskId } = client.chance.pick(known);
  const target = client.chance.pick([`/v1/videos/${taskId}`, `/v2/query/video_generation/${taskId}`]);
  const { status, text } = await call(client, kind, { target, headers });
  const state = parsed(text) as { status?: string; task?: { status?: string } } | undefined;
  const isCompleted = state?.status === 'completed' || state?.task?.status === 'succeeded';
  if (status === 200 && isCompleted) client.completed.push(taskId);
}

/** A relayed call of another account, so that the money of the tasks stays apart. */
async function chat(client: Client, kind: Kind, words: string, stream: boolean): Promise<void> {
  const body = { model: 'solo', stream, messages: [{ role: 'user', content: `hello ${words}` }] };
  await call(client, kind, { method: 'POST', target: '/v1/chat/completions', body, token: KEYS.other });
}

interface Request {
  readonly method?: string;
  readonly target: string;
  readonly body?: object;
  /** The idempotency key. */
  readonly key?: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One request, noted. A stream without its end counts as no answer. */
async function call({ base, notes }: Client, kind: Kind, request: Request): Promise<Note> {
  const { method = 'GET', target, body, key, token = KEYS.demo, headers = {} } = request;
  const from = performance.now();
  const seen = await fetch(base + target, {
    method,
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
    .then(async (response) => {
      const text = kind === 'download' ? await sizeOf(response) : await response.text();
      const isTorn = response.status === 200 && kind === 'relayed stream' && !text.includes(STREAM_END);
      const advice = response.headers.get('retry-after') ?? response.headers.get('x-should-retry') ?? undefined;
      return { status: isTorn ? undefined : response.status, text: isTorn ? 'a torn stream' : text, advice };
    })
    .catch((error: unknown) => ({ status: undefined, text: wordOf(error), advice: undefined }));
  const note: Note = { kind, from, to: performance.now(), ...seen };
  notes.push(note);
  return note;
}

const sizeOf = async (response: Response): Promise<string> =>
  response.status === 200
    ? `${(await response.arrayBuffer()).byteLength} bytes`
    : (await response.text()).slice(0, 500);

function wordOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  return `${name}: ${message} ${cause?.code ?? cause?.message ?? ''}`.trim();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
