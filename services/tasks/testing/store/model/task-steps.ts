import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import type { ListFilter } from '../../../src/store/task-store.ts';
import { aNewTask } from '../../tasks.ts';
import { newCallDraws } from './drawn-calls.ts';
import type { Aims, DrawnCall, DrawnStep } from './drawn-calls.ts';
import { listDue } from './model-moves.ts';
import { findTask, isAdmitted, isClaimed, isUnfinished, isWaiting } from './model-state.ts';
import type { ModelState, ModelTask } from './model-state.ts';
import { listRemovable } from './model-sweeps.ts';
import type { ModelledStore } from './model-task-store.ts';

type TaskCall = DrawnCall<ModelState, ModelledStore>;
export type TaskStep = DrawnStep<ModelState, ModelledStore>;
/** A drawn call, which is bound to its subject when it runs. */
export type Bind = TaskStep['bind'];

export const TASK_IDS = ['task_1', 'task_2', 'task_3', 'task_4', 'task_5', 'task_6'] as const;
const TOKENS = ['token_1', 'token_2', 'token_3', 'token_4'] as const;
export const SCOPES = [...TOKENS.map((token) => `token:${token}`), 'channel:main', 'channel:spare', 'total'];
const ALL = 100;
const ACCOUNTS = ['acme', 'umbrella'] as const;
const CHANNELS = ['main', 'spare'] as const;
const OWNERS = ['proc_1', 'proc_2'] as const;
const UPSTREAM_IDS = ['up-1', 'up-2', 'up-3', 'up-4', 'up-5', 'up-6'] as const;
const FAILURE = { code: 'refused', message: 'the upstream refused it' };
/** Of this many calls, one takes any task, and the others one that they are meant for. */
const ONE_UNAIMED_OF = 8;

const taskId = fc.constantFrom(...TASK_IDS);
const channel = fc.constantFrom(...CHANNELS);
const owner = fc.constantFrom(...OWNERS);
const upstreamId = fc.constantFrom(...UPSTREAM_IDS);
const accountId = fc.constantFrom(...ACCOUNTS);
const soonMs = fc.integer({ min: 0, max: 3000 });
const limit = fc.constantFrom(1, 2, ALL);
const nothing = fc.constant(undefined);

const draws = newCallDraws<ModelState, ModelledStore>(ONE_UNAIMED_OF);
export const { plain } = draws;

/** A call for one task that meets the condition, seldom for any task. Without such a task it is left out. */
export function aim<T>(
  isMeant: (task: ModelTask, state: ModelState) => boolean,
  drawn: Arbitrary<T>,
  make: (id: string, drawn: T, task: ModelTask | undefined, state: ModelState) => TaskCall,
): Arbitrary<Bind> {
  const ids: Aims<ModelState, string> = {
    meant: (state) => state.tasks.filter((task) => isMeant(task, state)).map(({ id }) => id),
    any: () => TASK_IDS,
  };
  return draws.aim(ids, drawn, (id, given, state) => make(id, given, findTask(state, id), state));
}

const lastAttempt = (task: ModelTask | undefined) => task?.attempts.at(-1);
const isSubmitting = ({ admission }: ModelTask): boolean => admission === 'submitting';
const isOwned = (task: ModelTask): boolean => isSubmitting(task) || isClaimed(task);
const isSent = (task: ModelTask): boolean => isOwned(task) && lastAttempt(task)?.outcome === 'started';
/** No upstream answers for a task that waits for its turn. */
const isAnswered = (task: ModelTask | undefined): boolean =>
  lastAttempt(task) !== undefined && (task?.admission !== 'waiting' || isClaimed(task));
const isPolled = (task: ModelTask): boolean => task.nextPollAt !== undefined;
const isFinished = ({ finishedAt }: ModelTask): boolean => finishedAt !== undefined;
const isLeased = ({ leaseUntil }: ModelTask): boolean => leaseUntil !== undefined;
const isAlive = (task: ModelTask): boolean => isAdmitted(task) && isUnfinished(task);

const key = fc.option(
  fc.record({
    key: fc.constantFrom('key-1', 'key-2'),
    fingerprint: fc.constantFrom('body-1', 'body-2'),
    forMs: fc.constantFrom(0, 2000, 100_000),
  }),
  { nil: undefined },
);

const begin = fc
  .record({
    account: accountId,
    owner,
    key,
    perToken: fc.constantFrom(0, 1, 2, 64, 200, 200),
    total: fc.constantFrom(2, 3, 64, 200, 200),
    attempt: fc.option(fc.record({ channel, inFlightMax: fc.constantFrom(1, 64, 200) }), { nil: undefined }),
    webhookUrl: fc.constantFrom(undefined, 'https://hooks.example/1'),
  })
  .map(({ account, key: named, perToken, total, ...task }): Bind => (state) => {
    const id = TASK_IDS.find((one) => !state.begun.includes(one)) ?? '';
    const tokenId = account === 'acme' ? 'token_1' : 'token_2';
    const caps = [
      { scope: `token:${tokenId}`, limit: perToken },
      { scope: 'total', limit: total },
    ];
    return {
      name: `begin ${id} ${JSON.stringify({ account, key: named, perToken, total, ...task })}`,
      begins: id,
      isAllowed: () => id !== '',
      call: (store, at) => {
        const idempotency =
          named === undefined
            ? undefined
            : { key: named.key, fingerprint: named.fingerprint, expiresAt: at + named.forMs };
        return store.begin(aNewTask(id, { ...task, accountId: account, tokenId, caps, idempotency, createdAt: at }));
      },
    };
  });

const creates: readonly Arbitrary<Bind>[] = [
  plain(fc.tuple(accountId, fc.constantFrom('key-1', 'key-2')), ([account, named]) => ({
    name: `findKey ${account} ${named}`,
    call: (store, at) => store.findKey(account, named, at),
  })),
  aim(isSubmitting, fc.integer({ min: 1, max: 20 }), (id, seconds) => ({
    name: `measure ${id} ${seconds}`,
    call: (store) => store.measure(id, seconds),
  })),
  aim(isSubmitting, nothing, (id) => ({
    name: `keepStaged ${id}`,
    call: (store) => store.keepStaged(id, { 1: { object: `obj-${id}`, mediaType: 'image/png', durationMs: 0 } }),
  })),
  aim(isSubmitting, nothing, (id) => ({ name: `refuse ${id}`, call: (store, at) => store.refuse(id, FAILURE, at) })),
  aim(isOwned, nothing, (id) => ({ name: `disown ${id}`, call: (store) => store.disown(id) })),
];

const start = aim(
  (task) => isSubmitting(task) && !isSent(task),
  fc.tuple(channel, fc.constantFrom(1, 64, 200), fc.option(owner, { nil: undefined, freq: 5 })),
  (id, [on, inFlightMax, other], task) => {
    const attempt = (task?.attempts.length ?? 0) + 1;
    const by = other ?? task?.owner ?? 'proc_1';
    return {
      name: `startAttempt ${id} ${attempt} of ${by} on ${on} max ${inFlightMax}`,
      isAllowed: () => lastAttempt(task)?.outcome !== 'started',
      call: (store, at) => store.startAttempt(id, { number: attempt, owner: by, channel: on, inFlightMax, at }),
    };
  },
);
/** A process answers for the last attempt of a task. */
const accept = aim(
  (task) => isSent(task) || task.admission === 'unknown',
  fc.tuple(upstreamId, soonMs),
  (id, [work, dueMs], task) => {
    const { number = 1, channel: on = 'main' } = lastAttempt(task) ?? {};
    return {
      name: `accept ${id} ${number} on ${on} as ${work} due in ${dueMs} ms`,
      isAllowed: () => isAnswered(task),
      call: (store, at) =>
        store.accept(id, {
          number,
          mapping: { channel: on, upstreamAccount: 'vendor', upstreamId: work },
          at,
          nextPollAt: at + dueMs,
        }),
    };
  },
);

const attempts: readonly Arbitrary<Bind>[] = [
  aim(isSent, nothing, (id, _, task) => {
    const { number = 1, channel: on = 'main' } = lastAttempt(task) ?? {};
    return {
      name: `refuseAttempt ${id} ${number} on ${on}`,
      isAllowed: () => task !== undefined && isSent(task),
      call: (store, at) => store.refuseAttempt(id, { number, channel: on, error: 'full', at }),
    };
  }),
  aim(isSent, nothing, (id, _, task) => {
    const { number = 1, channel: on = 'main' } = lastAttempt(task) ?? {};
    const mapping = { channel: on, upstreamAccount: 'vendor' };
    return {
      name: `leaveUnknown ${id} ${number} on ${on}`,
      isAllowed: () => isAnswered(task),
      call: (store, at) => store.leaveUnknown(id, { number, mapping, error: 'timed out', at }),
    };
  }),
  aim(
    ({ admission }) => admission === 'unknown',
    upstreamId,
    (id, work) => ({ name: `adopt ${id} as ${work}`, call: (store, at) => store.adopt(id, work, at) }),
  ),
];

const claim = plain(fc.tuple(channel, owner, limit, soonMs), ([on, by, most, leaseMs]) => ({
  name: `claimDue on ${on} for ${by}, at most ${most}, for ${leaseMs} ms`,
  isUnordered: true,
  // of two tasks that are due at the same moment, either may come first
  isAllowed: (state, at) => {
    const due = listDue(state, on, at);
    return due.length <= most || due[most - 1]?.nextPollAt !== due[most]?.nextPollAt;
  },
  call: (store, at) => store.claimDue(on, { now: at, leaseUntil: at + leaseMs, limit: most, owner: by }),
}));

const polls: readonly Arbitrary<Bind>[] = [
  plain(owner, (by) => ({ name: `dropLeases of ${by}`, call: (store) => store.dropLeases(by) })),
  plain(fc.tuple(channel, owner), ([on, by]) => ({
    name: `listLeasedIds ${on} ${by}`,
    isUnordered: true,
    call: (store) => store.listLeasedIds(on, by),
  })),
  aim(isLeased, owner, (id, by) => ({
    name: `dropLease ${id} of ${by}`,
    call: (store) => store.dropLease(id, by),
  })),
  aim(isPolled, nothing, (id) => ({ name: `makeDue ${id}`, call: (store, at) => store.makeDue(id, at) })),
  aim(isPolled, nothing, (id) => ({ name: `pollSoon ${id}`, call: (store, at) => store.pollSoon(id, at) })),
];
const pullIn = plain(fc.tuple(channel, soonMs), ([on, beyondMs]) => ({
  name: `pullIn ${on} beyond ${beyondMs} ms`,
  call: (store, at) => store.pullIn(on, { beyond: at + beyondMs, to: at, limit: ALL }),
}));

const state = fc.constantFrom('queued', 'in_progress');
const progress = aim(
  isPolled,
  fc.record({
    from: fc.option(state, { nil: undefined, freq: 5 }),
    to: state,
    // a word that no adapter knows is a word
    status: fc.constantFrom(
      { upstreamStatus: undefined, unrecognised: false },
      { upstreamStatus: 'Running', unrecognised: false },
      { upstreamStatus: 'Thinking', unrecognised: true },
      { upstreamStatus: 'Dreaming', unrecognised: true },
    ),
    percent: fc.constantFrom(0, 40),
    pollErrors: fc.constantFrom(0, 1),
    doubt: fc.option(fc.record({ reason: fc.constant('no_result'), polls: fc.constantFrom(1, 2) }), { nil: undefined }),
    dueMs: soonMs,
    isMoved: fc.boolean(),
    pollSpans: fc.constantFrom(undefined, 3),
    note: fc.constantFrom(undefined, { type: 'poll_failed', detail: { error: 'timed out' } }),
  }),
  (id, { from: other, to, percent, dueMs, isMoved, note, status, ...more }, task) => {
    const found = { ...status, ...more };
    const from = other ?? task?.state ?? 'queued';
    const wasDueAt = isMoved ? 1 : task?.nextPollAt;
    return {
      name: `progress ${id} ${from} to ${to} ${JSON.stringify({ percent, dueMs, wasDueAt, note, ...found })}`,
      call: (store, at) =>
        store.progress(
          id,
          from,
          { ...found, state: to, progress: percent, nextPollAt: at + dueMs, wasDueAt, at },
          note,
        ),
    };
  },
);

const finish = aim(
  isAlive,
  fc.record({
    end: fc.constantFrom('completed', 'failed'),
    upstreamStatus: fc.constantFrom(undefined, 'Done'),
    cost: fc.constantFrom(undefined, 120_000),
    onlyIfUnknown: fc.constantFrom(undefined, undefined, true),
    why: fc.constantFrom(undefined, undefined, 'the upstream said so'),
    fetchMs: fc.constantFrom(undefined, 250),
  }),
  (id, { end, upstreamStatus, cost, onlyIfUnknown, why, fetchMs }) => ({
    name: `finish ${id} ${end} ${JSON.stringify({ upstreamStatus, cost, onlyIfUnknown, why, fetchMs })}`,
    call: (store, at) =>
      store.finish(id, {
        ...{ state: end, at, upstreamStatus, upstreamCostMicroUsd: cost, onlyIfUnknown, fetchMs },
        ...(end === 'completed' ? { result: { object: `obj-${id}` }, expiresAt: at + ALL } : { failure: FAILURE }),
        usage: { totalSeconds: 5 },
        decision: why === undefined ? undefined : { resolution: end, actor: 'ada', why },
      }),
  }),
);

const ends: readonly Arbitrary<Bind>[] = [
  aim(isFinished, nothing, (id, _, task) => ({
    name: `markSettled ${id}`,
    // nothing settles a task before its end
    isAllowed: () => task?.finishedAt !== undefined,
    call: (store, at) => store.markSettled([id], at),
  })),
  aim(isFinished, soonMs, (id, ms, task) => ({
    name: `putOffSettlement ${id} by ${ms} ms`,
    isAllowed: () => task?.finishedAt !== undefined,
    call: (store, at) => store.putOffSettlement(id, at + ms),
  })),
  aim(isFinished, nothing, (id) => ({ name: `remove ${id}`, call: (store, at) => store.remove(id, at) })),
];
const settleAll = fc.constant<Bind>((model) => {
  const ids = model.tasks.filter(isFinished).map(({ id }) => id);
  return {
    name: `markSettled ${ids.join(' ')}`,
    isAllowed: () => ids.length > 0,
    call: (store, at) => store.markSettled(ids, at),
  };
});

const REASONS = ['unknown_outcome', 'no_result'] as const;
const deadline = fc.constantFrom('soft', 'hard');

const sweeps: readonly Arbitrary<Bind>[] = [
  plain(fc.tuple(deadline, soonMs), ([which, ms]) => ({
    name: `listLate ${which} of ${ms} ms ago`,
    isUnordered: true,
    call: (store, at) => store.listLate(which, at - ms, ALL),
  })),
  aim(isAlive, deadline, (id, which) => ({
    name: `passDeadline ${id} ${which}`,
    call: (store, at) => store.passDeadline(id, which, at),
  })),
  plain(nothing, () => ({ name: 'listOverdue', isUnordered: true, call: (store) => store.listOverdue(ALL) })),
  aim(isAlive, fc.constantFrom(...REASONS), (id, reason, task) => ({
    name: `raise ${id} ${reason}`,
    isAllowed: () => task !== undefined,
    call: (store, at) => store.raise({ taskId: id, reason, detail: 'see the upstream', since: at }),
  })),
  aim(
    (task, model) => isWaiting(model, task.id),
    fc.tuple(fc.constantFrom(undefined, undefined, ...REASONS), fc.constantFrom(undefined, '', 'it is paid')),
    (id, [reason, why]) => ({
      name: `resolve ${id} ${JSON.stringify({ reason, why })}`,
      call: (store, at) => store.resolve(id, { resolution: 'kept', actor: 'ada', at, reason, why }),
    }),
  ),
  aim(
    (task, model) => isWaiting(model, task.id),
    nothing,
    (id) => ({ name: `isWaiting ${id}`, call: (store) => store.isWaiting(id) }),
  ),
  plain(nothing, () => ({ name: 'listOpenAttention', call: (store) => store.listOpenAttention() })),
  plain(owner, (by) => ({ name: `heartbeat ${by}`, call: (store, at) => store.heartbeat(by, at) })),
  plain(nothing, () => ({ name: 'heartbeats', call: (store) => store.heartbeats() })),
  plain(owner, (by) => ({ name: `forget ${by}`, call: (store) => store.forget(by) })),
  plain(soonMs, (ms) => ({ name: `noteClockDoubt ${ms} ms ago`, call: (store, at) => store.noteClockDoubt(at - ms) })),
  plain(soonMs, (ms) => ({ name: `listClockDoubts of ${ms} ms`, call: (store, at) => store.listClockDoubts(at - ms) })),
];

const retention: readonly Arbitrary<Bind>[] = [
  plain(fc.tuple(soonMs, limit), ([ms, most]) => ({
    name: `removeFinished of ${ms} ms ago, at most ${most}`,
    isAllowed: (model, at) => {
      const gone = listRemovable(model, at - ms, at);
      return gone.length <= most || gone[most - 1]?.finishedAt !== gone[most]?.finishedAt;
    },
    call: (store, at) => store.removeFinished({ before: at - ms, now: at, limit: most }),
  })),
  plain(nothing, () => ({ name: 'removeKeys', call: (store, at) => store.removeKeys(at, ALL) })),
];

const filter: Arbitrary<ListFilter> = fc.record(
  {
    accountId,
    states: fc.uniqueArray(fc.constantFrom('queued', 'in_progress', 'completed', 'failed'), { maxLength: 2 }),
    channel,
    upstream: fc.record({ accounts: fc.constantFrom([], ['vendor'], ['other', 'vendor']), id: upstreamId }),
    hidden: fc.boolean(),
    taskIds: fc.uniqueArray(taskId, { maxLength: 2 }),
    model: fc.constantFrom('Alpha-H3', 'Beta-V1'),
  },
  { requiredKeys: [] },
);
/** Most filters of a client have one or two members. */
const narrow = fc
  .tuple(filter, fc.constantFrom('accountId', 'states', 'channel', 'upstream', 'hidden', 'taskIds', 'model'))
  .map(([full, member]): ListFilter => ({ [member]: full[member], hidden: full.hidden }));
const page = fc.record(
  { limit, after: taskId, offset: fc.constantFrom(0, 1), ascending: fc.boolean() },
  { requiredKeys: ['limit'] },
);

const reads: readonly Arbitrary<Bind>[] = [
  aim(isAdmitted, accountId, (id, account) => ({
    name: `findOwned ${account} ${id}`,
    call: (store) => store.findOwned(account, id),
  })),
  plain(fc.tuple(fc.oneof(narrow, filter), page), ([which, part]) => ({
    name: `list ${JSON.stringify(which)} ${JSON.stringify(part)}`,
    call: (store) => store.list(which, part),
  })),
  plain(fc.oneof(narrow, filter), (which) => ({
    name: `count ${JSON.stringify(which)}`,
    call: (store) => store.count(which),
  })),
  plain(fc.tuple(fc.constantFrom([], ['proc_1']), limit), ([dead, most]) => ({
    name: `listAbandoned by ${dead.join(' ')}, at most ${most}`,
    call: (store) => store.listAbandoned(dead, most),
  })),
  plain(owner, (by) => ({
    name: `listOwnedCreateIds ${by}`,
    isUnordered: true,
    call: (store) => store.listOwnedCreateIds(by, ALL),
  })),
  plain(
    fc.tuple(fc.constantFrom('submitting', 'unknown', 'waiting'), fc.constantFrom('', 'task_2'), limit),
    ([admission, after, most]) => ({
      name: `listWithAdmission ${admission} after "${after}", at most ${most}`,
      call: (store) => store.listWithAdmission(admission, { limit: most, after }),
    }),
  ),
  plain(fc.tuple(soonMs, soonMs), ([ms, moreMs]) => ({
    name: `listUnsettled in ${ms} ms and beyond ${ms + moreMs} ms`,
    isUnordered: true,
    call: (store, at) => store.listUnsettled({ before: at + ms, beyond: at + ms + moreMs, limit: ALL }),
  })),
  plain(channel, (on) => ({
    name: `findNextDue on ${on}`,
    call: (store, at) => store.findNextDue(on, at),
  })),
  plain(nothing, () => ({ name: 'findFirstUnsettled', call: (store) => store.findFirstUnsettled() })),
  plain(nothing, () => ({
    name: 'findKnownUpstreamIds',
    call: (store) => store.findKnownUpstreamIds('vendor', UPSTREAM_IDS),
  })),
  plain(fc.tuple(fc.uniqueArray(accountId), soonMs, taskId, limit), ([accounts, ms, id, most]) => ({
    name: `listChanges of ${accounts.join(' ')} since ${10 * ms} ms and ${id}, at most ${most}`,
    call: (store, at) => store.listChanges(accounts, { at: at - 10 * ms, id }, most),
  })),
  plain(fc.tuple(filter, accountId, soonMs, limit), ([{ states }, account, ms, most]) => ({
    name: `listChangedTasks of ${account} ${JSON.stringify({ states })} since ${10 * ms} ms, at most ${most}`,
    call: (store, at) => store.listChangedTasks({ accountId: account, states }, { at: at - 10 * ms, id: '' }, most),
  })),
];

const creating = { weight: 14, arbitrary: begin };
const others = [
  { weight: 5, arbitrary: fc.oneof(...creates) },
  { weight: 10, arbitrary: start },
  { weight: 14, arbitrary: accept },
  { weight: 9, arbitrary: fc.oneof(...attempts) },
  { weight: 6, arbitrary: fc.oneof(...polls) },
  { weight: 10, arbitrary: progress },
  { weight: 8, arbitrary: finish },
  { weight: 6, arbitrary: fc.oneof(...ends) },
  { weight: 10, arbitrary: fc.oneof(...sweeps) },
  { weight: 8, arbitrary: fc.oneof(...reads) },
];
/** Calls that may leave out what another transaction has locked at that moment. */
const skippers = [
  { weight: 6, arbitrary: claim },
  { weight: 1, arbitrary: pullIn },
  { weight: 5, arbitrary: fc.oneof(...retention) },
  { weight: 2, arbitrary: settleAll },
];

const afterMs = fc.oneof(
  { weight: 2, arbitrary: fc.constant(0) },
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 2000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 30_000, max: 90_000 }) },
  { weight: 1, arbitrary: fc.constant(-20_000) },
);

export function drawSteps(bind: Arbitrary<Bind>): Arbitrary<TaskStep> {
  return fc.record({ bind, afterMs, by: fc.constantFrom(0, 1) });
}

export const taskCall: Arbitrary<Bind> = fc.oneof(creating, ...others, ...skippers);
/** A call that waits for the locks of another one. */
export const lockingTaskCall: Arbitrary<Bind> = fc.oneof(creating, ...others);

/** Any call about tasks that do not wait for a channel, by one of two processes. */
export const drawTaskStep: Arbitrary<TaskStep> = drawSteps(taskCall);
export const drawLockingStep: Arbitrary<TaskStep> = drawSteps(lockingTaskCall);
