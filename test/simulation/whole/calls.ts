import { CHAT_MODEL, RICH } from './simulated-config.ts';
import type { HttpOrder } from './simulated-http.ts';
import { computeRetryFactor, mayRepeat, readMembers, sendOrder } from './world.ts';
import type { World } from './world.ts';

/** The names of the calls of a run. */
export const CALLS: readonly string[] = Array.from({ length: 8 }, (_none, at) => `call-${at}`);
const WITHIN_MS = 60_000;
const STREAMED = 0.5;
const QUEUED = 0.5;
const LEFT_EARLY = 0.3;
const LEAVE_MS_MAX = 3000;
const CREATES_MAX = 40;
/** A client gives a call up after this many refusals by a limit, which are about a minute. */
const REFUSALS_MAX = 12;
const READS_MAX = 40;
const RETRY_MS = { least: 300, most: 3000 };
const LAST_WORD = 'data: [DONE]';

/** Clients that call a synchronous route, at once or through the queue, and read the answer or leave it. */
export async function runCalls(world: World): Promise<void> {
  const { scheduler, draws, faults } = world;
  await Promise.all(
    CALLS.filter((name) => !faults.isLeftOut(name)).map(async (name) => {
      await scheduler.pause(draws.whole(`${name} wait`, 0, WITHIN_MS));
      await (draws.happens(`${name} queued`, QUEUED) ? runQueuedCall(world, name) : runCall(world, name));
    }),
  );
}

const describeCall = (name: string, isStreamed: boolean): object => ({
  model: CHAT_MODEL,
  messages: [{ role: 'user', content: `tell me about foxes [${name}]` }],
  ...(isStreamed ? { stream: true, stream_options: { include_usage: true } } : {}),
});

async function runCall(world: World, name: string): Promise<void> {
  const { draws, faults, rules, acts } = world;
  const isStreamed = draws.happens(`${name} streamed`, STREAMED);
  const leaves = faults.happens('client leaves', name, LEFT_EARLY);
  const answer = await sendOrder(
    world,
    name,
    {
      ...{ method: 'POST', path: '/v1/chat/completions', key: RICH.keys[0], body: describeCall(name, isStreamed) },
      headers: { 'reelgate-label': name },
    },
    { leaveAfterMs: leaves ? draws.whole(`${name} leave`, 0, LEAVE_MS_MAX) : undefined },
  );
  if (answer?.status !== 200) return;
  acts.note(isStreamed ? 'a call is streamed' : 'a call is answered');
  // an answer that breaks off ends without its last word
  if (isStreamed ? answer.text.includes(LAST_WORD) : 'choices' in readMembers(answer)) rules.answeredWhole(name, false);
}

/** Returns the id of the job; undefined if the call is refused, or no answer comes. */
async function createJob(world: World, name: string, create: HttpOrder): Promise<string | undefined> {
  const { scheduler, draws } = world;
  let refusals = 0;
  for (let creates = 1; creates <= CREATES_MAX; creates += 1) {
    const answer = await sendOrder(world, name, create);
    if (answer?.status === 202) return String(readMembers(answer)['id']);
    if (answer !== undefined && !mayRepeat(answer)) return undefined;
    if (answer?.status === 429) refusals += 1;
    if (refusals === REFUSALS_MAX) return undefined;
    const retryMs = draws.whole(`${name} create ${creates} retry`, RETRY_MS.least, RETRY_MS.most);
    await scheduler.pause(retryMs * computeRetryFactor(refusals));
  }
  return undefined;
}

/** The key makes one job, however often the create is sent. */
async function runQueuedCall(world: World, name: string): Promise<void> {
  const { scheduler, draws, rules, acts } = world;
  const pause = (what: string): Promise<void> =>
    scheduler.pause(draws.whole(`${name} ${what}`, RETRY_MS.least, RETRY_MS.most));
  const create: HttpOrder = {
    ...{ method: 'POST', path: '/async/v1/chat/completions', key: RICH.keys[0], body: describeCall(name, false) },
    headers: { 'idempotency-key': `key-of-${name}`, 'reelgate-label': name },
  };
  const job = await createJob(world, name, create);
  if (job === undefined) return;
  rules.promisedJob(`key-of-${name}`, job);
  for (let reads = 1; reads <= READS_MAX; reads += 1) {
    const answer = await sendOrder(world, name, { method: 'GET', path: `/get-async?id=${job}`, key: RICH.keys[0] });
    if (answer?.status === 404) rules.missing(job);
    if (answer?.status === 200) {
      const { status, result, error } = readMembers(answer);
      const seen = { id: job, status: String(status), error: JSON.stringify(error ?? result ?? '') };
      rules.read('async', { ...seen, label: undefined, charged: undefined }, scheduler.now());
      if (status === 'completed') {
        acts.note('a queued call completes');
        rules.answeredWhole(name, true);
      }
      if (status === 'completed' || status === 'failed') return;
    }
    await pause(`read ${reads}`);
  }
}
