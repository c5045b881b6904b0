import { computeCharge, computeStart } from '../../../src/domain/fair-queue.ts';
import { TOTAL_SCOPE, channelScope } from '../../../src/domain/in-flight-scope.ts';
import { SCHEDULED_LANE } from '../../../src/domain/lane.ts';
import type {
  Claim,
  Flow,
  FlowStore,
  PlaceStore,
  QueueReads,
  QueueStore,
  ScheduleStore,
  TurnStore,
} from '../../../src/store/queue-store.ts';
import { endTask } from './model-moves.ts';
import { countInFlight, findTask, isUnfinished, toTask } from './model-state.ts';
import type { ModelAccountFlow, ModelPlace, ModelState, ModelTask, ModelTokenFlow } from './model-state.ts';

/** What an operator decides over an account, in the lanes that it is in and in those that it enters later. */
export interface QueueRules {
  putRule(accountId: string, rule: { readonly weight: number; readonly isHeld: boolean }): Promise<void>;
}

/** The most tasks and tokens that a claim passes over. */
const PASSED_OVER_MAX = 32;

/**
 * The part of the reference in which tasks wait. How many tasks of a flow wait is counted each time. It takes from the
 * domain what a flow pays and where it begins, which are definitions with tests of their own.
 */
export function modelQueue(state: ModelState): QueueRules & QueueStore {
  return {
    ...modelPlaces(state),
    ...modelTurns(state),
    ...modelSchedule(state),
    ...modelQueueReads(state),
    putRule: async (accountId, rule) => {
      state.rules.set(accountId, rule);
      for (const account of state.accountFlows) if (account.accountId === accountId) Object.assign(account, rule);
    },
  };
}

export function findPlace(state: ModelState, taskId: string): ModelPlace | undefined {
  return state.places.find((place) => place.taskId === taskId);
}

/** The number of unclaimed places of an account in a lane, or of one of its tokens. */
export function countPlaces(state: ModelState, { lane, accountId, tokenId }: Partial<Flow>): number {
  return state.places.filter(
    (place) =>
      !place.isClaimed &&
      (lane === undefined || place.lane === lane) &&
      (accountId === undefined || place.accountId === accountId) &&
      (tokenId === undefined || place.tokenId === tokenId),
  ).length;
}

function findFlows(state: ModelState, { lane, accountId, tokenId }: Flow): [ModelAccountFlow, ModelTokenFlow] {
  const isSame = (one: { readonly lane: string; readonly accountId: string }): boolean =>
    one.lane === lane && one.accountId === accountId;
  let account = state.accountFlows.find(isSame);
  if (account === undefined) {
    const { weight = 1, isHeld = false } = state.rules.get(accountId) ?? {};
    account = { lane, accountId, weight, isHeld, used: 0, isReady: true };
    state.accountFlows.push(account);
  }
  let token = state.tokenFlows.find((one) => isSame(one) && one.tokenId === tokenId);
  if (token === undefined) {
    token = { lane, accountId, tokenId, used: 0, isReady: true };
    state.tokenFlows.push(token);
  }
  return [account, token];
}

function findLeast(flows: readonly { readonly used: number }[]): number | undefined {
  return flows.length === 0 ? undefined : Math.min(...flows.map(({ used }) => used));
}

/** Makes the flow of a place ready. If nothing of it waits yet, it begins anew. The place is not counted yet. */
function enterFlow(state: ModelState, flow: Flow): void {
  const { lane, accountId, tokenId } = flow;
  const [account, token] = findFlows(state, flow);
  if (countPlaces(state, { lane, accountId }) === 0) {
    const others = state.accountFlows.filter(
      (one) =>
        one.lane === lane && one.isReady && !one.isHeld && countPlaces(state, { lane, accountId: one.accountId }) > 0,
    );
    account.used = computeStart(account.used, findLeast(others), account.weight);
  }
  if (countPlaces(state, { lane, accountId, tokenId }) === 0)
    token.used = computeStart(token.used, findLeast(listReadyTokens(state, account)), 1);
  account.isReady = true;
  token.isReady = true;
}

/** The tokens of an account that have a turn in its lane. */
function listReadyTokens(state: ModelState, { lane, accountId }: ModelAccountFlow): readonly ModelTokenFlow[] {
  return state.tokenFlows.filter(
    (token) =>
      token.lane === lane &&
      token.accountId === accountId &&
      token.isReady &&
      countPlaces(state, { lane, accountId, tokenId: token.tokenId }) > 0,
  );
}

function setReady(state: ModelState, flow: Flow, isReady: boolean): void {
  const [account, token] = findFlows(state, flow);
  token.isReady = isReady;
  account.isReady = listReadyTokens(state, account).length > 0;
}

function leavePlace(state: ModelState, place: ModelPlace): void {
  state.places = state.places.filter((one) => one !== place);
}

function modelPlaces(state: ModelState): PlaceStore & FlowStore {
  return {
    enqueue: async (place, owner) => {
      const task = findTask(state, place.taskId);
      if (task?.admission !== 'submitting' || task.owner !== owner) return undefined;
      enterFlow(state, place);
      state.places.push({ ...place, isClaimed: false });
      leaveTurn(task);
      Object.assign(task, { admission: 'waiting', updatedAt: place.since });
      task.notes.push({ at: place.since, note: { type: 'waits' } });
      return toTask(task);
    },

    returnToQueue: async (taskId, { number, owner, channel, error, at, lane, notBefore }) => {
      const place = findPlace(state, taskId);
      const task = findTask(state, taskId);
      if (place?.isClaimed !== true || task?.admission !== 'waiting' || task.owner !== owner) return false;
      if ((task.attempts.at(-1)?.number ?? 0) !== number) return false;
      const [account, token] = findFlows(state, place);
      account.used -= computeCharge(place.cost, account.weight);
      token.used -= computeCharge(place.cost, 1);
      if (lane === undefined && notBefore === undefined) {
        account.isReady = true;
        token.isReady = true;
      } else {
        movePlace(place, lane ?? place.lane, notBefore);
        enterFlow(state, place);
      }
      place.isClaimed = false;
      leaveTurn(task);
      for (const attempt of task.attempts)
        if (attempt.number === number && attempt.channel === channel)
          Object.assign(attempt, { outcome: 'refused', error, endedAt: at });
      return true;
    },

    finishWaiting: async (taskId, finish) => {
      const place = findPlace(state, taskId);
      if (place?.isClaimed !== false) return undefined;
      const times = endTask(state, taskId, finish);
      if (times !== undefined) leavePlace(state, place);
      return times;
    },

    removePlace: async (taskId) => {
      const place = findPlace(state, taskId);
      if (place?.isClaimed === true) leavePlace(state, place);
    },
    removeIdleFlows: async () => {
      const isIdle = ({ lane }: { readonly lane: string }): boolean =>
        !state.places.some((place) => place.lane === lane);
      const before = state.accountFlows.length + state.tokenFlows.length;
      state.accountFlows = state.accountFlows.filter((flow) => !isIdle(flow));
      state.tokenFlows = state.tokenFlows.filter((flow) => !isIdle(flow));
      return before - state.accountFlows.length - state.tokenFlows.length;
    },
    removeOldPlaces: async (limit) => {
      const old = listOldPlaces(state).slice(0, limit);
      for (const place of old) leavePlace(state, place);
      return old.length;
    },
  };
}

/** A task in the queue has no process, no channel and no deadline, and no counter counts it. */
function leaveTurn(task: ModelTask): void {
  Object.assign(task, { owner: undefined, channel: undefined, deadlinePassed: -1, scopes: [] });
}

/** The places of claimed tasks that do not wait any more. */
export function listOldPlaces(state: ModelState): readonly ModelPlace[] {
  return state.places.filter(({ taskId, isClaimed }) => isClaimed && findTask(state, taskId)?.admission !== 'waiting');
}

function modelTurns(state: ModelState): TurnStore {
  return {
    claim: async (lane, { channel, inFlightMax }, { owner, at }): Promise<Claim> => {
      for (let passedOver = 0; passedOver <= PASSED_OVER_MAX; passedOver += 1) {
        const place = findNext(state, lane);
        if (place === undefined) return { outcome: 'empty' };
        const task = findTask(state, place.taskId);
        if (task === undefined || task.admission !== 'waiting' || !isUnfinished(task)) {
          leavePlace(state, place);
          continue;
        }
        const ofChannel = { scope: channelScope(channel), limit: inFlightMax };
        const caps = [...place.caps, ofChannel];
        const full = caps.find(({ scope, limit }) => countInFlight(state, scope) >= limit)?.scope;
        if (full === ofChannel.scope || full === TOTAL_SCOPE) return { outcome: 'full', scope: full };
        if (full !== undefined) {
          setReady(state, place, false);
          continue;
        }
        const [account, token] = findFlows(state, place);
        account.used += computeCharge(place.cost, account.weight);
        token.used += computeCharge(place.cost, 1);
        place.isClaimed = true;
        const number = (task.attempts.at(-1)?.number ?? 0) + 1;
        task.attempts.push({ number, channel, outcome: 'started', startedAt: at });
        Object.assign(task, { owner, channel, beganAt: at, deadlinePassed: 0, scopes: caps.map(({ scope }) => scope) });
        const { isClaimed: _claimed, ...given } = place;
        return { outcome: 'claimed', task: toTask(task), place: structuredClone(given), number };
      }
      return { outcome: 'empty' };
    },
    unblock: async (tokenId) => {
      for (const token of state.tokenFlows)
        if (token.tokenId === tokenId && !token.isReady) setReady(state, token, true);
    },
  };
}

/** The place with the next turn. An account whose tokens are all at their limits is found so only at its turn. */
function findNext(state: ModelState, lane: string): ModelPlace | undefined {
  const accounts = state.accountFlows
    .filter((one) => one.lane === lane && !one.isHeld && countPlaces(state, { lane, accountId: one.accountId }) > 0)
    .toSorted((one, other) => one.used - other.used || compare(one.accountId, other.accountId));
  for (const account of accounts) {
    const [token] = listReadyTokens(state, account).toSorted(
      (one, other) => one.used - other.used || compare(one.tokenId, other.tokenId),
    );
    if (token !== undefined)
      return state.places
        .filter((place) => !place.isClaimed && place.lane === lane && place.tokenId === token.tokenId)
        .toSorted((one, other) => compare(one.taskId, other.taskId))[0];
    account.isReady = false;
  }
  return undefined;
}

function movePlace(place: ModelPlace, lane: string, notBefore: number | undefined): void {
  if (notBefore === undefined) place.lane = lane;
  else Object.assign(place, { lane: SCHEDULED_LANE, nextLane: lane, notBefore });
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function modelSchedule(state: ModelState): ScheduleStore {
  return {
    startScheduled: async (now, limit) => {
      const due = listScheduled(state, now).slice(0, limit);
      for (const place of due) {
        const lane = place.nextLane ?? '';
        enterFlow(state, { ...place, lane });
        const hasReturned = (findTask(state, place.taskId)?.attempts.length ?? 0) > 0;
        const since = hasReturned ? place.since : place.notBefore;
        Object.assign(place, { lane, nextLane: undefined, since });
      }
      return due.length;
    },
  };
}

/** The places whose time has come, the earliest one first. */
export function listScheduled(state: ModelState, now: number): readonly ModelPlace[] {
  return state.places
    .filter(({ nextLane, notBefore = Infinity }) => nextLane !== undefined && notBefore <= now)
    .toSorted(({ notBefore: one = 0 }, { notBefore: other = 0 }) => one - other);
}

/** The places that wait in vain, the first one first. */
export function listExpired(state: ModelState, now: number): readonly ModelPlace[] {
  return state.places
    .filter(({ taskId, isClaimed, startBy }) => !isClaimed && startBy <= now && findTask(state, taskId) !== undefined)
    .toSorted((one, other) => one.startBy - other.startBy);
}

function modelQueueReads(state: ModelState): QueueReads {
  return {
    listLanes: async () => {
      const lanes = state.places.flatMap(({ lane, isClaimed }) => (isClaimed ? [] : [lane]));
      return [...new Set(lanes)].filter((lane) => lane !== SCHEDULED_LANE).toSorted();
    },
    readShare: async (lane, accountId, tokenId = '') => {
      const inLane = state.accountFlows.filter((one) => one.lane === lane);
      const weight = inLane.find((one) => one.accountId === accountId)?.weight ?? 1;
      const weights = inLane
        .filter((one) => one.accountId !== accountId && countPlaces(state, { lane, accountId: one.accountId }) > 0)
        .reduce((sum, one) => sum + one.weight, weight);
      return { weight, weights, ofToken: countPlaces(state, { lane, accountId, tokenId }) };
    },
    listExpired: async (now, limit) =>
      listExpired(state, now)
        .slice(0, limit)
        .flatMap(({ taskId, lane, nextLane = lane }) => {
          const task = findTask(state, taskId);
          return task === undefined ? [] : [{ task: toTask(task), lane: nextLane }];
        }),
    countWaiting: async (accountId) => ({
      ofAccount: countPlaces(state, { accountId }),
      total: countPlaces(state, {}),
    }),
    listBlocked: async (after, limit) => {
      const blocked = state.tokenFlows.flatMap(({ tokenId, isReady }) => (isReady ? [] : [tokenId]));
      return [...new Set(blocked)]
        .filter((tokenId) => tokenId > after)
        .toSorted()
        .slice(0, limit);
    },
  };
}

type Row = readonly (string | number | undefined)[];

/** The rows of the queue, with the columns in the order in which the test reads them. */
export function listQueueRows(state: ModelState): Record<'places' | 'accounts' | 'tokens', readonly Row[]> {
  return {
    places: state.places.map((place) => [
      ...[place.taskId, place.lane, place.accountId, place.tokenId, place.cost, place.since, place.startBy],
      ...[place.isClaimed ? 1 : 0, place.notBefore, place.nextLane],
    ]),
    accounts: state.accountFlows.map((flow) => [
      ...[flow.lane, flow.accountId, flow.weight, flow.used],
      ...[
        countPlaces(state, { lane: flow.lane, accountId: flow.accountId }),
        flow.isReady ? 1 : 0,
        flow.isHeld ? 1 : 0,
      ],
    ]),
    tokens: state.tokenFlows.map((flow) => [
      ...[flow.lane, flow.accountId, flow.tokenId, flow.used],
      ...[countPlaces(state, flow), flow.isReady ? 1 : 0],
    ]),
  };
}
