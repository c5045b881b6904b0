import { setTimeout as wait } from 'node:timers/promises';
import { httpCaller } from '../../harness/client.ts';
import type { Answer } from '../../harness/client.ts';
import { seeded } from '../../harness/seeded.ts';
import { insist } from '../../simulation/load.ts';
import type { Load, Told } from '../../simulation/load.ts';

const CALL_TIMEOUT_MS = 20_000;
const REST_MS = 100;
const TRIES_MAX = 200;
const CANCEL_AFTER_MAX_MS = 800;
/**
 * Longer than the time between the poll of a cancel and its DELETE on a busy machine. That DELETE would remove a work
 * that has ended meanwhile, and a person would have to decide.
 */
const TAKE_MS = 3000;
/** The task does not end by this cancel. */
const REFUSED = 409;
/** A cancel is answered for good by one of these. */
const CANCEL_ENDS: ReadonlySet<number> = new Set([200, REFUSED]);

/** A task that its client cancelled, and the status of the final answer to that; undefined: it is not known. */
export interface Cancelled extends Told {
  readonly status: number | undefined;
}

/** Clients that go on until they are stopped. */
export interface RestlessClients<T> {
  /** Every answer that they got. */
  readonly answers: readonly Answer[];
  /** Lets them finish what they have begun. Returns what they did. */
  stop(): Promise<readonly T[]>;
}

export interface ClientPlan {
  /** The gateways, which are called in turn. */
  readonly bases: readonly string[];
  readonly token: string;
  readonly seed: number;
}

/** A client that reads the tasks of a load, one after the other. */
export function startReader(plan: ClientPlan, load: Load): RestlessClients<string> {
  const { pick, whole } = seeded(plan.seed);
  return startClient(plan, async (call) => {
    const ids = load.told.flatMap(({ taskId }) => (taskId === undefined ? [] : [taskId]));
    await wait(whole(0, REST_MS));
    if (ids.length === 0) return undefined;
    const id = pick(ids);
    await call('GET', `/v1/videos/${id}`);
    return id;
  });
}

/** A client that orders and cancels what it ordered. */
export function startCanceller(plan: ClientPlan): RestlessClients<Cancelled> {
  const { whole } = seeded(plan.seed);
  let orders = 0;
  return startClient(plan, async (call, answers) => {
    const mark = `c${(orders += 1)}`;
    const text = `a red boat [mark:${mark}] [queue:${whole(0, CANCEL_AFTER_MAX_MS)}] [take:${TAKE_MS}]`;
    const content = [{ type: 'text', text }];
    const body = { model: 'Alpha-H3', content, duration: 5, resolution: '768P', ratio: '16:9' };
    const order = { mark, target: '/v2/video_generation', body };
    const told = await insist(
      { base: plan.bases[orders % plan.bases.length] ?? '', token: plan.token },
      order,
      answers,
    );
    await wait(whole(0, CANCEL_AFTER_MAX_MS));
    return { ...told, status: told.taskId === undefined ? undefined : await insistOnCancel(call, told.taskId) };
  });
}

type Call = (method: string, target: string) => Promise<Answer | undefined>;

/** Repeats a cancel until its answer is final. Undefined: an earlier try, whose answer was lost, may have worked. */
async function insistOnCancel(call: Call, taskId: string): Promise<number | undefined> {
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const status = (await call('POST', `/v1/videos/${taskId}/cancel`))?.status;
    if (status !== undefined && CANCEL_ENDS.has(status)) return tries > 1 && status === REFUSED ? undefined : status;
    await wait(REST_MS);
  }
  throw new Error(`the cancel of ${taskId} got no final answer`);
}

function startClient<T>(
  { bases, token }: ClientPlan,
  act: (call: Call, answers: Answer[]) => Promise<T | undefined>,
): RestlessClients<T> {
  const callers = bases.map((base) => httpCaller(base, token, CALL_TIMEOUT_MS));
  const answers: Answer[] = [];
  const done: T[] = [];
  let calls = 0;
  let isOver = false;
  /** A gateway that stops refuses connections: the client then calls the other one. */
  const call: Call = async (method, target) => {
    const answer = await callers[(calls += 1) % callers.length]?.call(method, target).catch(() => undefined);
    if (answer !== undefined) answers.push(answer);
    return answer;
  };
  const goOn = async (): Promise<void> => {
    while (!isOver) {
      const did = await act(call, answers);
      if (did !== undefined) done.push(did);
    }
  };
  const running = goOn();
  return {
    answers,
    stop: async () => {
      isOver = true;
      await running;
      return done;
    },
  };
}
