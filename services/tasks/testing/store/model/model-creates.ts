import { Overtaken } from '@reelgate/platform/service-unavailable';
import { channelScope } from '../../../src/domain/in-flight-scope.ts';
import { removeWritten } from '../../../src/domain/task.ts';
import type { CreateStore, NewTask } from '../../../src/store/task-store.ts';
import { computeLater } from './model-moves.ts';
import { countInFlight, findTask, hasWork, isClaimed, leaveScopes, toTask } from './model-state.ts';
import type { ModelState, ModelTask } from './model-state.ts';

/** The part of the reference that creates tasks and submits them. */
export function modelCreates(state: ModelState): CreateStore {
  return { ...modelBegins(state), ...modelAttempts(state), ...modelTakeovers(state) };
}

type Begins = Pick<CreateStore, 'findKey' | 'begin' | 'measure' | 'keepStaged' | 'refuse'>;

function modelBegins(state: ModelState): Begins {
  return {
    findKey: async (accountId, key, now) => {
      const found = state.keys.find((one) => one.accountId === accountId && one.key === key && one.expiresAt > now);
      return found === undefined ? undefined : { fingerprint: found.fingerprint, taskId: found.taskId };
    },

    begin: async (task) => {
      const { accountId, idempotency, attempt, createdAt } = task;
      const isSameKey = (one: { accountId: string; key: string }): boolean =>
        one.accountId === accountId && one.key === idempotency?.key;
      if (state.keys.some((one) => isSameKey(one) && one.expiresAt > createdAt)) return 'key_taken';
      const caps = [...task.caps];
      if (attempt !== undefined) caps.push({ scope: channelScope(attempt.channel), limit: attempt.inFlightMax });
      const full = caps.find(({ scope, limit }) => countInFlight(state, scope) >= limit);
      if (full !== undefined) return { capped: full.scope };
      if (idempotency !== undefined) {
        state.keys = state.keys.filter((one) => !isSameKey(one));
        state.keys.push({ ...idempotency, accountId, taskId: task.id });
      }
      state.begun.push(task.id);
      state.tasks.push(
        newModelTask(
          task,
          caps.map(({ scope }) => scope),
        ),
      );
      return 'begun';
    },

    measure: async (taskId, seconds) => {
      const task = findTask(state, taskId);
      if (task !== undefined) task.seconds = seconds;
    },

    keepStaged: async (taskId, staged) => {
      const task = findTask(state, taskId);
      if (task !== undefined) task.staged = staged;
    },

    refuse: async (taskId, failure, at) => {
      const task = findTask(state, taskId);
      if (task?.admission !== 'submitting') return false;
      const order = removeWritten(task.order);
      Object.assign(task, { admission: 'refused', state: 'failed', owner: undefined, failure, order });
      Object.assign(task, { finishedAt: at, settleAt: at, updatedAt: at, nextPollAt: undefined, scopes: [] });
      for (const attempt of task.attempts)
        if (attempt.outcome === 'started')
          Object.assign(attempt, { outcome: 'refused', error: 'not sent', endedAt: at });
      state.keys = state.keys.filter((key) => key.taskId !== taskId);
      task.notes.push({ at, note: { type: 'refused', detail: { ...failure } } });
      return true;
    },
  };
}

type Attempts = Pick<CreateStore, 'startAttempt' | 'accept' | 'refuseAttempt' | 'leaveUnknown'>;

function modelAttempts(state: ModelState): Attempts {
  return {
    startAttempt: async (taskId, { number, owner, channel, inFlightMax, at }) => {
      const task = findTask(state, taskId);
      if (task?.admission !== 'submitting' || task.owner !== owner)
        throw new Overtaken(`the create of ${taskId} was taken over`);
      const scope = channelScope(channel);
      if (countInFlight(state, scope) >= inFlightMax) return false;
      task.channel = channel;
      task.scopes.push(scope);
      task.attempts.push({ number, channel, outcome: 'started', startedAt: at });
      return true;
    },

    accept: async (taskId, { number, mapping, at, nextPollAt }) => {
      const { channel, upstreamAccount, upstreamId = '' } = mapping;
      if (state.tasks.some((other) => other.id !== taskId && hasWork(other, upstreamAccount, upstreamId)))
        return 'id_known';
      const task = findTask(state, taskId);
      if (task === undefined) return undefined;
      // the answer of the upstream is kept with its attempt, also where the task was decided over before
      for (const attempt of task.attempts)
        if (attempt.number === number) Object.assign(attempt, { outcome: 'accepted', upstreamId, endedAt: at });
      const isOpen = ['submitting', 'unknown', 'waiting'].includes(task.admission);
      if (!isOpen || task.mapping?.upstreamId !== undefined) return undefined;
      if (task.admission === 'submitting') task.updatedAt = at;
      Object.assign(task, { admission: 'accepted', owner: undefined, channel, mapping, nextPollAt });
      return 'accepted';
    },

    refuseAttempt: async (taskId, { number, channel, error, fault, at }) => {
      const task = findTask(state, taskId);
      if (task === undefined) return;
      for (const attempt of task.attempts)
        if (attempt.number === number) Object.assign(attempt, { outcome: 'refused', error, fault, endedAt: at });
      leaveScopes(task, [channelScope(channel)]);
    },

    leaveUnknown: async (taskId, { number, mapping, error, at }) => {
      const task = findTask(state, taskId);
      if (task?.admission !== 'submitting' && task?.admission !== 'waiting') return undefined;
      const { channel, upstreamAccount } = mapping;
      const updatedAt = task.admission === 'waiting' ? computeLater(task, at) : at;
      Object.assign(task, { admission: 'unknown', owner: undefined, updatedAt, channel });
      task.mapping = { channel, upstreamAccount };
      for (const attempt of task.attempts)
        if (attempt.number === number) Object.assign(attempt, { outcome: 'unknown', error, endedAt: at });
      task.notes.push({ at, note: { type: 'outcome_unknown', detail: { number, channel, error } } });
      return toTask(task);
    },
  };
}

function modelTakeovers(state: ModelState): Pick<CreateStore, 'disown' | 'adopt'> {
  return {
    disown: async (taskId) => {
      const task = findTask(state, taskId);
      if (task === undefined || (task.admission !== 'submitting' && !isClaimed(task))) return false;
      task.owner = 'nobody';
      return true;
    },

    adopt: async (taskId, upstreamId, at) => {
      const task = findTask(state, taskId);
      if (task?.admission !== 'unknown' || task.mapping === undefined) return false;
      const { mapping } = task;
      if (state.tasks.some((other) => hasWork(other, mapping.upstreamAccount, upstreamId))) return false;
      Object.assign(task, { admission: 'accepted', mapping: { ...mapping, upstreamId }, nextPollAt: at });
      task.notes.push({ at, note: { type: 'adopted', detail: { upstreamId } } });
      return true;
    },
  };
}

function newModelTask(task: NewTask, scopes: string[]): ModelTask {
  const { id, accountId, tokenId, order, seconds, createdAt, requestId, trace, traceParent, owner, attempt } = task;
  return {
    ...{ id, accountId, tokenId, order, seconds, createdAt, requestId, trace, traceParent, owner, scopes },
    admission: 'submitting',
    state: 'queued',
    unrecognised: false,
    progress: 0,
    updatedAt: createdAt,
    channel: attempt?.channel,
    pollErrors: 0,
    polls: 0,
    pollSpans: 0,
    resumed: false,
    leaseUntil: undefined,
    workingAt: undefined,
    settledAt: undefined,
    settleAt: undefined,
    settleFailures: 0,
    deletedAt: undefined,
    deadlinePassed: 0,
    beganAt: undefined,
    attempts:
      attempt === undefined ? [] : [{ number: 1, channel: attempt.channel, outcome: 'started', startedAt: createdAt }],
    notes: [],
  };
}
