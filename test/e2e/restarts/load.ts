import { setTimeout as wait } from 'node:timers/promises';
import { seeded } from '../../harness/seeded.ts';
import type { Seeded } from '../../harness/seeded.ts';

const CALL_TIMEOUT_MS = 30_000;
const POLL_EVERY_MS = 1000;
/** A task is read for so long if it does not end before. Most do not: the check of a result takes the processor. */
const FOLLOWED_MS = 10_000;
const ENDING = 0.2;
const UNENDING_MS = 600_000;
const WAIT_S = 5;

export const KINDS = ['create', 'read', 'waiting read', 'download', 'list', 'quote', 'event stream'] as const;
export type Kind = (typeof KINDS)[number];

/** What a caller saw of one request. Times are those of `Date.now()`. */
export interface Note {
  readonly kind: Kind;
  readonly requestId: string;
  readonly target: string;
  readonly from: number;
  readonly to: number;
  /** Undefined: no whole answer came. */
  readonly status: number | undefined;
  readonly text: string;
}

export interface LoadPlan {
  readonly base: string;
  readonly token: string;
  readonly seed: number;
  readonly createsPerSecond: number;
  /** The most tasks that are created or read at one time. */
  readonly inHandMax: number;
}

export interface Load {
  readonly notes: readonly Note[];
  /** Creates no more. Resolves when no caller reads any longer. */
  end(): Promise<void>;
}

interface Caller {
  readonly plan: LoadPlan;
  readonly notes: Note[];
  readonly chance: Seeded;
}

/** Creates at a steady rate, however long earlier ones take. Each task is read every second for a while. */
export function startLoad(plan: LoadPlan): Load {
  const caller: Caller = { plan, notes: [], chance: seeded(plan.seed) };
  const running = new Set<Promise<void>>();
  const over = new AbortController();
  const begin = (act: Promise<void>): void => {
    running.add(act);
    void act.finally(() => running.delete(act));
  };
  const pace = async (): Promise<void> => {
    const start = performance.now();
    for (let count = 1; !over.signal.aborted; count += 1) {
      if (running.size < plan.inHandMax) begin(orderAndFollow(caller, count));
      const at = start + (count * 1000) / plan.createsPerSecond;
      await wait(Math.max(0, at - performance.now()), undefined, { signal: over.signal }).catch(() => undefined);
    }
  };
  const pacing = [pace(), followEvents(caller, over.signal)];
  return {
    notes: caller.notes,
    end: async () => {
      over.abort();
      await Promise.all(pacing);
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** One order and the reads of its task. One in two has an idempotency key. No order is repeated. */
async function orderAndFollow(caller: Caller, count: number): Promise<void> {
  const { seed } = caller.plan;
  const { chance } = caller;
  const mark = `s${seed}n${count}`;
  const takeMs = chance.chance() < ENDING ? chance.whole(500, 6000) : UNENDING_MS;
  const text = `a red boat [mark:${mark}] [queue:${chance.whole(0, 1000)}] [take:${takeMs}]`;
  const body = { model: 'Alpha-H3', content: [{ type: 'text', text }], duration: 5, resolution: '768P', ratio: '16:9' };
  const isVendors = chance.chance() < 0.5;
  const headers = chance.chance() < 0.5 ? { 'idempotency-key': `key-${mark}` } : undefined;
  const followUp = chance.chance();
  if (followUp < 0.1) await call(caller, 'quote', { method: 'POST', target: '/v1/videos/estimate', body });
  const created = await call(caller, 'create', {
    method: 'POST',
    target: isVendors ? '/v2/video_generation' : '/v1/videos',
    body,
    headers,
  });
  const taskId = (parsed(created.text) as { task_id?: string } | undefined)?.task_id;
  if (created.status !== 200 || taskId === undefined) return;
  const target = isVendors ? `/v2/query/video_generation/${taskId}` : `/v1/videos/${taskId}`;
  const waits = followUp > 0.8;
  for (const since = Date.now(); Date.now() - since < FOLLOWED_MS;) {
    if (!waits) await wait(POLL_EVERY_MS);
    const { text: seen } = await call(caller, waits ? 'waiting read' : 'read', {
      target,
      headers: waits ? { prefer: `wait=${WAIT_S}` } : undefined,
    });
    if (!isFinal(seen)) continue;
    if (followUp > 0.4) await call(caller, 'download', { target: `/v1/videos/${taskId}/content` });
    else await call(caller, 'list', { target: '/v1/videos?limit=5' });
    return;
  }
}

function isFinal(text: string): boolean {
  const state = parsed(text) as { status?: string; task?: { status?: string } } | undefined;
  return ['completed', 'failed'].includes(String(state?.status)) || state?.task?.status === 'succeeded';
}

interface Request {
  readonly method?: string;
  readonly target: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

async function call(caller: Caller, kind: Kind, { method = 'GET', target, body, headers }: Request): Promise<Note> {
  const { base, token } = caller.plan;
  const requestId = `restart-${caller.plan.seed}-${caller.notes.length}-${caller.chance.whole(0, 1e9)}`;
  const from = Date.now();
  const seen = await fetch(base + target, {
    method,
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    headers: {
      authorization: `Bearer ${token}`,
      'x-request-id': requestId,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
    .then(async (response) => ({ status: response.status, text: await textOf(response, kind) }))
    .catch((error: unknown) => ({ status: undefined, text: nameError(error) }));
  const note: Note = { kind, requestId, target: `${method} ${target}`, from, to: Date.now(), ...seen };
  caller.notes.push(note);
  return note;
}

const textOf = async (response: Response, kind: Kind): Promise<string> =>
  response.ok && kind === 'download' ? `${(await response.arrayBuffer()).byteLength} bytes` : response.text();

/** Holds the event stream open. A stream that ends is asked for again, and only a refusal is a failure. */
async function followEvents(caller: Caller, over: AbortSignal): Promise<void> {
  const { base, token } = caller.plan;
  for (let times = 0; !over.aborted; times += 1) {
    const requestId = `restart-${caller.plan.seed}-events-${times}`;
    const from = Date.now();
    try {
      const headers = { authorization: `Bearer ${token}`, 'x-request-id': requestId };
      const response = await fetch(`${base}/v1/events`, { headers, signal: over });
      const text = response.ok ? '' : await response.text();
      const { status } = response;
      caller.notes.push({
        kind: 'event stream',
        requestId,
        target: 'GET /v1/events',
        from,
        to: Date.now(),
        status,
        text,
      });
      if (response.ok) await response.body?.pipeTo(new WritableStream(), { signal: over });
    } catch {
      // A stream that is cut off is no failure: its reader goes on after its last event.
    }
    await wait(100, undefined, { signal: over }).catch(() => undefined);
  }
}

function nameError(error: unknown): string {
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
