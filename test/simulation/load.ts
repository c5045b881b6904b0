import { setTimeout as wait } from 'node:timers/promises';
import { httpCaller } from '../harness/client.ts';
import type { Answer } from '../harness/client.ts';
import { seeded } from '../harness/seeded.ts';

const RETRY_MS = 100;
const CALL_TIMEOUT_MS = 20_000;
const TRIES_MAX = 400;
/** OpenAI's clients repeat a request twice. */
const THROTTLES_MAX = 2;
const SECOND_MS = 1000;
const RATIOS = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'];

/** Some words that steer the upstream, with their share in per cent. */
type Behaviours = readonly (readonly [share: number, words: string])[];

/** The upstream takes each order. Polls may fail, and so may the work. */
const WORKING: Behaviours = [
  [14, '[slow:400]'],
  [6, '[slow:1500]'],
  [8, '[fail]'],
  [5, '[take:3000]'],
  [2, '[poll:hang]'],
  [2, '[poll:reset]'],
  [2, '[poll:html]'],
  [2, '[poll:throttle]'],
  [2, '[poll:gone]'],
];
/** The upstream refuses the create or loses the answer to it. */
const FAILING: Behaviours = [
  [5, '[hang]'],
  [5, '[reset]'],
  [3, '[html]'],
  [3, '[throttle]'],
  [3, '[throttle:1]'],
  [3, '[once] [throttle]'],
  [2, '[error:500]'],
  [2, '[once] [base-resp]'],
  [1, '[once] [error:500]'],
];

export interface Order {
  readonly mark: string;
  readonly target: string;
  readonly body: object;
}

/** The final answer to the client of an order. */
export interface Told {
  readonly order: Order;
  /** The task of a 200. */
  readonly taskId: string | undefined;
  /** The final refusal, if there was one. */
  readonly refusal: number | undefined;
}

/** The order with this number, which is the same for the same seed. */
function drawOrder({ seed, isUpstreamWorking = false }: LoadPlan, number: number): Order {
  const { pick, whole, chance } = seeded(seed * 100_003 + number);
  const mark = `m${number}`;
  const [duration, resolution, ratio] = [whole(4, 15), pick(['768P', '2K']), pick(RATIOS)];
  const used = chance() < 0.3 ? ` [seconds:${whole(1, 20)}]` : '';
  const behaviours = isUpstreamWorking ? WORKING : [...WORKING, ...FAILING];
  const text = `a red boat [mark:${mark}] ${pickBehaviour(behaviours, whole(0, 99))}${used}`;
  if (chance() < 0.5)
    return {
      mark,
      target: '/v2/video_generation',
      body: { model: 'Alpha-H3', content: [{ type: 'text', text }], duration, resolution, ratio },
    };
  return {
    mark,
    target: '/v1/videos',
    body: { model: 'Alpha-H3', content: [{ type: 'text', text }], duration, resolution, ratio },
  };
}

function pickBehaviour(behaviours: Behaviours, at: number): string {
  let below = 0;
  return behaviours.find(([share]) => (below += share) > at)?.[1] ?? '';
}

export interface Load {
  readonly told: readonly Told[];
  /** Every answer to every client. */
  readonly answers: readonly Answer[];
  /** Lets the clients finish their orders, and continue until there are `ordersMin` of them even on a slow machine. */
  end(ordersMin: number): Promise<void>;
}

export interface LoadPlan {
  readonly base: string;
  readonly token: string;
  readonly seed: number;
  readonly clients: number;
  readonly ordersMax: number;
  /** The longest pause of a client between two orders. */
  readonly restMs: number;
  /** The upstream takes every order at once. By default it refuses some, and loses the answers to others. */
  readonly isUpstreamWorking?: boolean;
}

/** Clients that send orders one by one, each under a key of its own, and repeat an order until its outcome is known. */
export function startLoad(plan: LoadPlan): Load {
  const told: Told[] = [];
  const answers: Answer[] = [];
  const { whole } = seeded(plan.seed);
  let next = 0;
  let last = plan.ordersMax;
  const client = async (): Promise<void> => {
    while (next < last) {
      next += 1;
      told.push(await insist(plan, drawOrder(plan, next), answers));
      await wait(whole(0, plan.restMs));
    }
  };
  const clients = Array.from({ length: plan.clients }, client);
  return {
    told,
    answers,
    end: async (ordersMin) => {
      last = Math.min(ordersMin, plan.ordersMax);
      await Promise.all(clients);
    },
  };
}

/** Whether the outcome is unknown: the first call with this key still runs, or a part of the service was away. */
function isForNow({ status, text }: Answer): boolean {
  return status === 409 || (status >= 500 && /cannot be reached|went wrong/.test(text));
}

/** The milliseconds after which a throttled client may repeat its order; 0 if it was not throttled. */
function readThrottleMs({ status, headers }: Answer): number {
  return status === 429 ? Number(headers.get('retry-after') ?? 0) * SECOND_MS : 0;
}

/** Repeats one order under its key until the answer is final, and a throttled one as often as the clients of vendors do. */
export async function insist(
  { base, token }: Pick<LoadPlan, 'base' | 'token'>,
  order: Order,
  answers: Answer[],
): Promise<Told> {
  const caller = httpCaller(base, token, CALL_TIMEOUT_MS);
  let throttles = 0;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const answer = await caller
      .call('POST', order.target, order.body, { 'idempotency-key': `key-${order.mark}` })
      .catch(() => undefined);
    if (answer !== undefined) answers.push(answer);
    if (answer?.status === 200)
      return { order, taskId: (answer.json as { task_id: string }).task_id, refusal: undefined };
    const throttleMs = answer !== undefined && throttles < THROTTLES_MAX ? readThrottleMs(answer) : 0;
    if (throttleMs > 0) throttles += 1;
    else if (answer !== undefined && !isForNow(answer)) return { order, taskId: undefined, refusal: answer.status };
    await wait(Math.max(RETRY_MS, throttleMs));
  }
  throw new Error(`${order.mark} got no final answer`);
}
