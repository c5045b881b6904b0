import { RECEIVERS } from './receivers.ts';
import { ALPHA_CHANNEL, KLING_CHANNEL, POOR, REMIXED_MODEL, REVOKED, RICH } from './simulated-config.ts';
import type { Services } from './machine.ts';
import { mayRepeat, readMembers, sendOrder } from './world.ts';
import type { World } from './world.ts';

const WITHIN_MS = 60_000;
const PAUSES = 0.5;
const PAUSED_MS = { least: 2000, most: 20_000 };
const REVOKES = 0.6;
const RELOADS_MAX = 3;
const RELOADS = 0.5;
const CREDITS = 0.5;
const CREDIT_NANOS = 5_000_000_000n;
const LIMITS = 0.5;
const QUEUE_ACTS = 0.3;
const WITHDRAWALS = 0.4;
/** Tasks wait only now and then, so an operator who wants to withdraw them looks for them often. */
const WITHDRAWALS_MAX = 30;
const WITHDRAWAL_APART_MS = 1500;
/** Less than an order costs. */
const LIMIT_NANOS = 100_000_000n;
const ENDPOINTS = 0.7;
const ENDPOINT_ENDS = 0.3;
/** The names of all that operators and owners can do in a run. */
export const ACTS: readonly string[] = [
  'pause',
  'revoke',
  'credit',
  'limit',
  'endpoint',
  'hold',
  'weight',
  'withdrawal',
]
  .concat(Array.from({ length: RELOADS_MAX }, (_none, at) => `reload ${at + 1}`))
  .map((name) => `operator ${name}`);
const REPEATS_MAX = 30;
const RETRY_MS = { least: 300, most: 2000 };
/** A process that follows a dead one on a shared server waits for ten heartbeats, so a program can be away for long. */
const CALLED_MAX = 600;

/** What operators and owners of accounts do in the middle of a run, each in some of the seeds. */
export async function runOperators(world: World): Promise<void> {
  const { draws, scheduler, machine, acts } = world;
  const running: Promise<void>[] = [];
  const plan = (name: string, probability: number, act: () => Promise<void>): void => {
    if (world.faults.isCalm || world.faults.isLeftOut(`operator ${name}`)) return;
    if (!draws.happens(`operator ${name}`, probability)) return;
    running.push(scheduler.pause(draws.whole(`operator ${name} wait`, 0, WITHIN_MS)).then(act));
  };
  plan('pause', PAUSES, () => pauseChannel(world));
  plan('revoke', REVOKES, () => revokeToken(world));
  plan('credit', CREDITS, () => creditAccount(world));
  plan('limit', LIMITS, () => lowerLimit(world));
  plan('hold', QUEUE_ACTS, () => holdQueue(world));
  plan('weight', QUEUE_ACTS, () => weighAccount(world));
  plan('withdrawal', WITHDRAWALS, () => cancelQueued(world));
  for (let reload = 1; reload <= RELOADS_MAX; reload += 1)
    plan(`reload ${reload}`, RELOADS, async () => {
      machine.reload();
      acts.note('a configuration is read again');
    });
  if (!world.faults.isLeftOut('operator endpoint') && draws.happens('operator endpoint', ENDPOINTS))
    running.push(runEndpoint(world));
  await Promise.all(running);
}

/** Repeats a call until it is answered, because a lost answer says nothing. */
export async function repeatCall<T>(world: World, name: string, run: (services: Services) => Promise<T>): Promise<T> {
  const { machine, scheduler, draws, events } = world;
  for (let call = 1; ; call += 1) {
    try {
      const answer = await machine.call(run, name);
      events.write(scheduler.now(), 'operator', `${name} is done`);
      return answer;
    } catch (error) {
      if (call === CALLED_MAX) throw error;
      events.write(scheduler.now(), 'operator', `${name} is not done: ${String(error)}`);
      await scheduler.pause(draws.whole(`operator ${name} ${call}`, RETRY_MS.least, RETRY_MS.most));
    }
  }
}

async function pauseChannel(world: World): Promise<void> {
  const { draws, scheduler } = world;
  const id = draws.pick('operator paused channel', [ALPHA_CHANNEL, KLING_CHANNEL]);
  await repeatCall(world, 'pause', ({ channels }) => channels.pauseChannel({ id, reason: 'a look at the upstream' }));
  await scheduler.pause(draws.whole('operator pause', PAUSED_MS.least, PAUSED_MS.most));
  world.acts.note('a channel is paused');
  await repeatCall(world, 'resume', ({ channels }) => channels.resumeChannel({ id, reason: 'it works' }));
}

async function findToken(world: World, accountId: string): Promise<string> {
  const { tokens } = await repeatCall(world, 'list of tokens', ({ accounts }) => accounts.listTokens({ accountId }));
  return tokens[0]?.id ?? '';
}

async function revokeToken(world: World): Promise<void> {
  const id = await findToken(world, REVOKED.id);
  await repeatCall(world, 'revocation', ({ accounts }) => accounts.revokeToken({ id }));
  world.rules.revoked(REVOKED.keys[0]);
}

async function lowerLimit(world: World): Promise<void> {
  const { draws, scheduler, acts } = world;
  const id = await findToken(world, RICH.id);
  await repeatCall(world, 'limit', ({ accounts }) => accounts.updateTokenLimits({ id, limitNanos: LIMIT_NANOS }));
  acts.note('a limit is lowered');
  await scheduler.pause(draws.whole('operator limit', PAUSED_MS.least, PAUSED_MS.most));
  await repeatCall(world, 'end of the limit', ({ accounts }) => accounts.updateTokenLimits({ id }));
}

/** Holds an account or a model in the queue for a while. */
async function holdQueue(world: World): Promise<void> {
  const { draws, scheduler } = world;
  const of = draws.pick('operator held', [{ accountId: RICH.id }, { model: REMIXED_MODEL }]);
  await repeatCall(world, 'hold', async ({ queue }) => queue.holdQueue({ ...of, reason: 'a talk' }));
  world.acts.note('the queue is held');
  await scheduler.pause(draws.whole('operator hold', PAUSED_MS.least, PAUSED_MS.most));
  await repeatCall(world, 'release', async ({ queue }) => queue.releaseQueue({ ...of, reason: 'it is settled' }));
}

async function weighAccount(world: World): Promise<void> {
  const weight = world.draws.whole('operator weight', 1, 9);
  await repeatCall(world, 'weight', async ({ queue }) =>
    queue.setQueueWeight({ accountId: RICH.id, weight, reason: 'a launch' }),
  );
  world.acts.note('an account is weighed');
}

async function cancelQueued(world: World): Promise<void> {
  for (let look = 1; look <= WITHDRAWALS_MAX; look += 1) {
    const { cancelled } = await repeatCall(world, 'withdrawal', async ({ queue }) =>
      queue.cancelQueued({ accountId: RICH.id, reason: 'asked for by the client' }),
    );
    if (cancelled > 0) {
      world.acts.note('queued tasks are withdrawn');
      return;
    }
    await world.scheduler.pause(WITHDRAWAL_APART_MS);
  }
}

/** The reference makes one credit of all repeats. */
async function creditAccount(world: World): Promise<void> {
  await repeatCall(world, 'credit', ({ accounts }) =>
    accounts.creditAccount({ id: POOR.id, amountNanos: CREDIT_NANOS, reason: 'a transfer', requestId: 'transfer-1' }),
  );
  world.acts.note('an account is credited');
}

/** The owner of an account adds an endpoint for webhooks, and in some seeds removes it. */
async function runEndpoint(world: World): Promise<void> {
  const { draws, scheduler, faults, acts } = world;
  const [key] = RICH.keys;
  const body = {
    ...{ name: 'all ends', url: RECEIVERS[2], payload: draws.pick('endpoint payload', ['thin', 'full']) },
    event_types: ['video.completed', 'video.failed'],
  };
  for (let repeat = 1; repeat <= REPEATS_MAX; repeat += 1) {
    const answer = await sendOrder(world, 'endpoint', { method: 'POST', path: '/v1/webhook_endpoints', key, body });
    if (answer !== undefined && answer.status < 300) {
      acts.note('an endpoint is added');
      if (!faults.isCalm && draws.happens('endpoint ends', ENDPOINT_ENDS))
        await removeEndpoint(world, readMembers(answer)['id'] as string);
      return;
    }
    if (answer !== undefined && !mayRepeat(answer)) {
      world.rules.break('an endpoint can be made', `${answer.status} ${answer.text}`);
      return;
    }
    await scheduler.pause(draws.whole(`endpoint retry ${repeat}`, RETRY_MS.least, RETRY_MS.most));
  }
}

async function removeEndpoint(world: World, id: string): Promise<void> {
  const { draws, scheduler, acts } = world;
  await scheduler.pause(draws.whole('endpoint end', 0, WITHIN_MS));
  const path = `/v1/webhook_endpoints/${id}`;
  const removed = await sendOrder(world, 'endpoint', { method: 'DELETE', path, key: RICH.keys[0] });
  if (removed?.status === 200) acts.note('an endpoint is removed');
}
