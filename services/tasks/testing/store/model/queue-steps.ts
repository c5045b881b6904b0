import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { SCHEDULED_LANE } from '../../../src/domain/lane.ts';
import { aNewTask } from '../../tasks.ts';
import type { Detour } from './drawn-calls.ts';
import { countPlaces, findPlace, listExpired, listOldPlaces, listScheduled } from './model-queue.ts';
import { isClaimed } from './model-state.ts';
import type { ModelState, ModelTask } from './model-state.ts';
import { TASK_IDS, aim, drawSteps, lockingTaskCall, plain, taskCall } from './task-steps.ts';
import type { Bind, TaskStep } from './task-steps.ts';

/** More tasks than in the other sequences, so that several wait at once. */
export const WAITER_IDS = [...TASK_IDS, ...Array.from({ length: 10 }, (_none, index) => `task_w${index}`)];
/** Of the lanes the second one is what the first one becomes for a task that a channel cannot do. */
export const LANES = ['lane_a', 'lane_b'] as const;
const [LANE, NEXT_LANE] = LANES;
/** The accounts of the tokens. */
const WAITERS = [
  { accountId: 'acme', tokenId: 'token_1' },
  { accountId: 'acme', tokenId: 'token_3' },
  { accountId: 'umbrella', tokenId: 'token_2' },
  { accountId: 'hooli', tokenId: 'token_4' },
] as const;
export const QUEUE_ACCOUNTS = ['acme', 'umbrella', 'hooli'] as const;
const ALL = 100;
/** More than any sequence makes. */
const FLOWS_MAX = 1000;
const FAILURE = { code: 'cancelled', message: 'the task was cancelled before it began' };

const lane = fc.constantFrom(LANE, LANE, LANE, NEXT_LANE);
const channel = fc.constantFrom('main', 'spare');
const owner = fc.constantFrom('proc_1', 'proc_2');
const waiter = fc.constantFrom(...WAITERS);
const account = fc.constantFrom(...QUEUE_ACCOUNTS);
const limit = fc.constantFrom(1, 2, ALL);
const soonMs = fc.integer({ min: 0, max: 3000 });
const nothing = fc.constant(undefined);
const one = (of: number): Arbitrary<boolean> => fc.nat(of - 1).map((drawn) => drawn === 0);

const lastNumber = ({ attempts }: ModelTask): number => attempts.at(-1)?.number ?? 0;
const isReadyToWait = ({ admission, attempts }: ModelTask): boolean =>
  admission === 'submitting' && attempts.at(-1)?.outcome !== 'started';
const isPlaced = (task: ModelTask, state: ModelState): boolean => findPlace(state, task.id)?.isClaimed === false;

const begin = fc.tuple(waiter, owner).map(([by, process]): Bind => (state) => {
  const id = WAITER_IDS.find((some) => !state.begun.includes(some)) ?? '';
  const caps = [`token:${by.tokenId}`, 'total'].map((scope) => ({ scope, limit: ALL }));
  return {
    name: `begin ${id} ${JSON.stringify(by)} of ${process}`,
    begins: id,
    isAllowed: () => id !== '',
    call: (store, at) => store.begin(aNewTask(id, { ...by, owner: process, caps, createdAt: at })),
  };
});

/**
 * A call beside another one may leave out accounts, all but one at most. A claim passes over the account that the other
 * call has locked, and if that call ends at this moment, the claim still has the order of before it, and takes the turn of
 * an account that was next. An account that enters a lane does not see one that enters it at the same moment, and begins
 * as if that one did not wait.
 */
const DETOURS: readonly Detour[] = [...QUEUE_ACCOUNTS.map((some) => [some]), ...QUEUE_ACCOUNTS.map(listOthers)].map(
  (accounts) => {
    const among = accounts.map((some) => `'${some}'`).join(', ');
    return {
      before: `UPDATE queue_accounts SET held = held + 2 WHERE account_id IN (${among})`,
      after: `UPDATE queue_accounts SET held = held - 2 WHERE account_id IN (${among})`,
    };
  },
);

function listOthers(accountId: string): readonly string[] {
  return QUEUE_ACCOUNTS.filter((other) => other !== accountId);
}

const enqueue = aim(
  isReadyToWait,
  fc.record({
    lane,
    // some pay more than a flow that returns may owe
    cost: fc.constantFrom(1, 5, 5, 5, 12, 100),
    startInMs: soonMs,
    perToken: fc.constantFrom(1, 1, 2, ALL),
    total: fc.constantFrom(2, ALL, ALL, ALL, ALL, ALL),
    notBeforeMs: fc.tuple(one(6), soonMs).map(([isLater, ms]) => (isLater ? ms : undefined)),
    isOther: one(20),
  }),
  (taskId, { perToken, total, startInMs, notBeforeMs, isOther, ...drawn }, task) => {
    const { accountId = '', tokenId = '', owner: by = '' } = task ?? {};
    const process = isOther ? 'proc_3' : by;
    const flow = { accountId, tokenId, ...drawn };
    return {
      name: `enqueue ${taskId} of ${process} ${JSON.stringify({ ...flow, perToken, total, startInMs, notBeforeMs })}`,
      locksFlows: true,
      detours: DETOURS,
      isAllowed: () => task !== undefined && task.attempts.at(-1)?.outcome !== 'started',
      call: (store, at) =>
        store.enqueue(
          {
            ...{ taskId, ...flow, since: at, startBy: at + startInMs, mediaJson: '{}', refusals: 0 },
            ...(notBeforeMs === undefined
              ? {}
              : { lane: SCHEDULED_LANE, nextLane: flow.lane, notBefore: at + notBeforeMs }),
            caps: [
              { scope: `token:${tokenId}`, limit: perToken },
              { scope: 'total', limit: total },
            ],
          },
          process,
        ),
    };
  },
);

const claim = plain(
  fc.record({ lane, channel, inFlightMax: fc.constantFrom(1, 2, ALL, ALL), owner }),
  ({ lane: drawn, channel: on, inFlightMax, owner: by }, state) => {
    // most claims are of a lane in which a task waits
    const from = countPlaces(state, { lane: drawn }) > 0 ? drawn : LANE;
    return {
      name: `claim of ${from} on ${on} max ${inFlightMax} for ${by}`,
      locksFlows: true,
      detours: DETOURS,
      call: (store, at) => store.claim(from, { channel: on, inFlightMax }, { owner: by, at }),
    };
  },
);

const giveBack = aim(
  isClaimed,
  fc.record({ isInNext: one(4), isLater: one(4), pauseMs: soonMs, isOther: one(10), isEarlier: one(10) }),
  (id, { isInNext, isLater, pauseMs, isOther, isEarlier }, task, state) => {
    const number = (task === undefined ? 1 : lastNumber(task)) - (isEarlier ? 1 : 0);
    const by = isOther ? 'proc_3' : (task?.owner ?? '');
    const on = task?.channel ?? 'main';
    // a lane only ever loses channels
    const to = isInNext && findPlace(state, id)?.lane === LANE ? NEXT_LANE : undefined;
    return {
      name: `returnToQueue ${id} ${number} of ${by} on ${on} to ${to ?? 'its lane'} in ${isLater ? pauseMs : 0} ms`,
      locksFlows: true,
      detours: DETOURS,
      call: (store, at) =>
        store.returnToQueue(id, {
          ...{ number, owner: by, channel: on, error: 'busy', at, lane: to },
          notBefore: isLater ? at + pauseMs : undefined,
        }),
    };
  },
);

const finishWaiting = aim(isPlaced, nothing, (id) => ({
  name: `finishWaiting ${id}`,
  locksFlows: true,
  call: (store, at) => store.finishWaiting(id, { state: 'failed', at, failure: FAILURE }),
}));

const unblock = fc.tuple(fc.nat(ALL), waiter).map(([which, { tokenId }]): Bind => (state) => {
  const blocked = state.tokenFlows.filter(({ isReady }) => !isReady);
  const id = blocked[which % Math.max(1, blocked.length)]?.tokenId ?? tokenId;
  return { name: `unblock ${id}`, locksFlows: true, call: (store) => store.unblock(id) };
});

const startScheduled = plain(limit, (most) => ({
  name: `startScheduled, at most ${most}`,
  locksFlows: true,
  detours: DETOURS,
  isAllowed: (state, at) => {
    const times = listScheduled(state, at).map(({ notBefore }) => notBefore);
    return new Set(times).size === times.length;
  },
  call: (store, at) => store.startScheduled(at, most),
}));

const removePlace = aim(
  (task, state) => findPlace(state, task.id)?.isClaimed === true && task.admission !== 'waiting',
  nothing,
  (id) => ({ name: `removePlace ${id}`, call: (store) => store.removePlace(id) }),
);

const removeOldPlaces = plain(limit, (most) => ({
  name: `removeOldPlaces, at most ${most}`,
  // any of them may remain
  isAllowed: (state) => listOldPlaces(state).length <= most,
  call: (store) => store.removeOldPlaces(most),
}));

/** Their number is not compared: a flow stands in the reference once it is named, and in a store once it enters. */
const removeIdleFlows = plain(nothing, () => ({
  name: 'removeIdleFlows',
  call: async (store) => {
    await store.removeIdleFlows(FLOWS_MAX);
  },
}));

/** The operator of a test decides over flows that already wait as over later ones. */
const putRule = plain(
  fc.record({ accountId: account, weight: fc.constantFrom(1, 2, 3), isHeld: one(6) }),
  ({ accountId, ...rule }) => ({
    name: `putRule ${accountId} ${JSON.stringify(rule)}`,
    call: (store) => store.putRule(accountId, rule),
  }),
);

const reads: readonly Arbitrary<Bind>[] = [
  plain(nothing, () => ({ name: 'listLanes', call: (store) => store.listLanes() })),
  plain(fc.tuple(lane, waiter), ([of, { accountId, tokenId }]) => ({
    name: `readShare ${of} ${accountId} ${tokenId}`,
    call: (store) => store.readShare(of, accountId, tokenId),
  })),
  plain(fc.tuple(soonMs, limit), ([ms, most]) => ({
    name: `listExpired in ${ms} ms, at most ${most}`,
    isUnordered: true,
    // of two that end at the same moment, either may come first
    isAllowed: (state, at) => {
      const expired = listExpired(state, at + ms);
      return expired.length <= most || expired[most - 1]?.startBy !== expired[most]?.startBy;
    },
    call: (store, at) => store.listExpired(at + ms, most),
  })),
  plain(account, (of) => ({ name: `countWaiting ${of}`, call: (store) => store.countWaiting(of) })),
  plain(fc.tuple(fc.constantFrom('', 'token_2'), limit), ([after, most]) => ({
    name: `listBlocked after "${after}", at most ${most}`,
    call: (store) => store.listBlocked(after, most),
  })),
];

const locking = [
  { weight: 24, arbitrary: enqueue },
  { weight: 16, arbitrary: claim },
  { weight: 8, arbitrary: giveBack },
  { weight: 3, arbitrary: finishWaiting },
  { weight: 3, arbitrary: unblock },
  { weight: 4, arbitrary: startScheduled },
];

/** A call of the queue, or seldom any other one, so that tasks in the queue also change without it. */
export const drawQueueStep: Arbitrary<TaskStep> = drawSteps(
  fc.oneof(
    { weight: 22, arbitrary: begin },
    ...locking,
    { weight: 2, arbitrary: putRule },
    { weight: 3, arbitrary: removePlace },
    { weight: 2, arbitrary: removeOldPlaces },
    { weight: 2, arbitrary: removeIdleFlows },
    { weight: 6, arbitrary: fc.oneof(...reads) },
    { weight: 24, arbitrary: taskCall },
  ),
);

/** Two calls of the queue, of which one often is a claim, or one of it and another one. */
export const drawLockingQueueSteps: Arbitrary<readonly [TaskStep, TaskStep]> = fc.tuple(
  drawSteps(fc.oneof({ weight: 40, arbitrary: claim }, ...locking)),
  drawSteps(fc.oneof({ weight: 10, arbitrary: finishWaiting }, ...locking, { weight: 15, arbitrary: lockingTaskCall })),
);
