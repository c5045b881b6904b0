import { CHAT_CHANNEL, RICH } from './simulated-config.ts';
import type { Services } from './machine.ts';
import { readListedIds, sendOrder } from './world.ts';
import type { World } from './world.ts';

const WITHIN_MS = 60_000;
const ERRAND = 0.5;
const PAUSE_S = { least: 2, most: 12 };
/** A process ends the pauses that are over within this time, also after it was away. */
const PAUSE_OVER_MS_MAX = 60_000;
/** Tasks wait only now and then, so an operator who wants one looks for it often. */
const LOOKS_MAX = 60;
const LOOK_APART_MS = 1500;
/** The newest tasks, of which one may wait. */
const NEWEST = 6;
const TRIES_MAX = 20;
const RETRY_MS = 2000;

const MOVE = 'move';
const MOVE_WITHIN_MS = 10_000;

/** The small acts of operators and owners, by their names. */
const ERRANDS: Readonly<Record<string, (world: World) => Promise<void>>> = {
  'short pause': pauseForTime,
  rebuild: rebuildSums,
  [MOVE]: moveQueuedTask,
  secret: rotateSecret,
  'wrong key': sendWrongKey,
};
/** The names under which a run can do without them. */
export const ERRAND_ACTS: readonly string[] = Object.keys(ERRANDS).map((name) => `operator ${name}`);

/** What operators and owners now and then do in the middle of a run, each in some of the seeds. */
export async function runErrands(world: World): Promise<void> {
  const { draws, faults, scheduler } = world;
  await Promise.all(
    Object.entries(ERRANDS).map(async ([name, run]) => {
      if (faults.isLeftOut(`operator ${name}`)) return;
      // few seeds have tasks that wait, and those for a short time
      if (name !== MOVE && !draws.happens(`operator ${name}`, ERRAND)) return;
      await scheduler.pause(draws.whole(`operator ${name} wait`, 0, name === MOVE ? MOVE_WITHIN_MS : WITHIN_MS));
      await run(world);
    }),
  );
}

/** Calls once. Undefined if no answer comes, or a refusal. */
async function tryCall<T>(
  { machine, events, scheduler }: World,
  name: string,
  run: (services: Services) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await machine.call(run, name);
  } catch (error) {
    events.write(scheduler.now(), 'operator', `${name} is not done: ${String(error)}`);
    return undefined;
  }
}

/** Repeats a call until it is answered. */
async function callAgain<T>(
  world: World,
  name: string,
  run: (services: Services) => Promise<T>,
): Promise<T | undefined> {
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const answer = await tryCall(world, name, run);
    if (answer !== undefined) return answer;
    await world.scheduler.pause(RETRY_MS);
  }
  return undefined;
}

/** A channel of relayed calls is paused for some seconds, and then it serves again without an operator. */
async function pauseForTime(world: World): Promise<void> {
  const { draws, faults, scheduler, rules, acts } = world;
  // a call may be refused, and the time of a pause is that of a clock
  if (faults.isCalm || faults.listOn().includes('clock jump')) return;
  const forSeconds = draws.whole('operator short pause is', PAUSE_S.least, PAUSE_S.most);
  const pause = { id: CHAT_CHANNEL, reason: 'a short look', forSeconds };
  if ((await callAgain(world, 'short pause', ({ channels }) => channels.pauseChannel(pause))) === undefined) return;
  await scheduler.pause(forSeconds * 1000 + PAUSE_OVER_MS_MAX);
  const resume = { id: CHAT_CHANNEL, reason: 'it should serve' };
  const resumed = await callAgain(world, 'end of the short pause', ({ channels }) => channels.resumeChannel(resume));
  if (resumed === undefined) return;
  if (resumed.wasPaused)
    rules.break('a pause ends at its time', `${CHAT_CHANNEL} is paused for ${forSeconds} s and stays so`);
  else acts.note('a pause ends at its time');
}

/** The sums of accounts and tokens are computed again from the ledger, while orders go on. None was wrong. */
async function rebuildSums(world: World): Promise<void> {
  const rebuilt = await callAgain(world, 'rebuild', ({ accounts }) => accounts.rebuildBalances({}));
  if (rebuilt === undefined) return;
  world.acts.note('the sums are computed again');
  const wrong = [...rebuilt.accountIds, ...rebuilt.tokenIds];
  if (wrong.length > 0) world.rules.break('the sums of accounts and tokens are right', wrong.join(', '));
}

async function moveQueuedTask(world: World): Promise<void> {
  const { draws, scheduler, rules, acts, variation } = world;
  if (variation.longestWait === undefined) return;
  for (let look = 1; look <= LOOKS_MAX; look += 1) {
    const newest = rules.list().slice(-NEWEST);
    const move = { first: true, reason: 'an important client' };
    const { id: taskId } = newest.length === 0 ? { id: '' } : draws.pick(`operator move ${look}`, newest);
    const moved =
      taskId === ''
        ? undefined
        : await tryCall(world, 'move', ({ queue }) => queue.moveQueuedTask({ ...move, taskId }));
    if (moved !== undefined) {
      acts.note('a queued task is moved');
      return;
    }
    await scheduler.pause(LOOK_APART_MS);
  }
}

/** The owner of an endpoint for webhooks gives it a new secret, and sends a sample event to it. */
async function rotateSecret(world: World): Promise<void> {
  const { acts, scheduler } = world;
  const [key] = RICH.keys;
  for (let look = 1; look <= LOOKS_MAX; look += 1) {
    const listed = await sendOrder(world, 'secret', { method: 'GET', path: '/v1/webhook_endpoints', key });
    const [endpoint] = readListedIds(listed);
    if (endpoint !== undefined) {
      const path = `/v1/webhook_endpoints/${endpoint}`;
      const rotated = await sendOrder(world, 'secret', { method: 'POST', path: `${path}/rotate_secret`, key });
      if (rotated?.status === 200) acts.note('a secret is rotated');
      const body = { event_type: 'video.completed' };
      const tested = await sendOrder(world, 'secret', { method: 'POST', path: `${path}/test`, key, body });
      if (tested?.status === 200) acts.note('a sample event is sent');
      return;
    }
    await scheduler.pause(LOOK_APART_MS);
  }
}

/** A client tries a key that no account has. */
async function sendWrongKey(world: World): Promise<void> {
  const order = { method: 'GET', path: '/v1/videos', key: `${RICH.keys[0]}-wrong` };
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const answer = await sendOrder(world, 'wrong key', order);
    if (answer !== undefined && answer.status < 400)
      world.rules.break('a wrong key is refused', `it is answered ${answer.status}`);
    if (answer?.status === 401) {
      world.acts.note('a wrong key is refused');
      return;
    }
    await world.scheduler.pause(RETRY_MS);
  }
}
