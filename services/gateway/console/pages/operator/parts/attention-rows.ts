import type { RpcAnswer, RpcRequest } from '../../../api/calls.ts';
import type { Money } from '../../../api/money.ts';
import { readTime, readWord, toEnumName, toMoney } from '../../../parts/contract-values.ts';
import type { WordOf } from '../../../parts/contract-values.ts';
import type { State } from '../../../parts/state-badge.tsx';
import { toCall } from '../../../state/calls.ts';
import type { RpcCall } from '../../../state/calls.ts';
import { attentionWords } from '../attention-words.ts';

/** The most entries of the queue that the page shows. */
const ROWS_MAX = 200;
/** The entries of one call to billing. */
const CHARGES_MAX = 100;

type Item = RpcAnswer<'tasks.OperatorService/ListAttention'>['items'][number];
type ChargesAnswer = RpcAnswer<'billing.BillingService/ListCharges'>;
export type Charge = ChargesAnswer['charges'][number];
type DecisionRequest = RpcRequest<'tasks.OperatorService/ResolveAttention'>;
/** A decision of an operator on work with an unknown outcome. */
export type Resolution = WordOf<DecisionRequest['resolution'], 'RESOLUTION_'>;
type ItemState = Pick<AttentionRow, 'isJob' | 'state'>;

/** A task or a job that waits for a decision. */
export interface AttentionRow {
  readonly id: string;
  readonly isJob: boolean;
  readonly since: number;
  readonly reason: string;
  readonly detail: string;
  readonly accountId: string;
  readonly model: string;
  readonly channel: string;
  readonly state: State;
  readonly held?: Money;
  readonly decisions: readonly Decision[];
}

/** A possible decision and its effect on the money. */
export interface Decision {
  readonly resolution: Resolution;
  /** The amount that will be charged; undefined until money is charged or released. */
  readonly charge?: Money;
  /** The amount that goes back to the account; undefined until money goes back. */
  readonly release?: Money;
  /** The reason for which the decision is not possible, or undefined if it is possible. */
  readonly refusedBecause?: string;
  /**
   * True if its amounts are unknown here, as while billing is away. `completed` then charges the hold or the usage, and
   * `failed` releases the hold.
   */
  readonly isUnpriced?: true;
}

/** The effect that a decision had on the money. */
export interface DecidedMoney {
  readonly held: Money;
  /** Undefined until money is charged or released. */
  readonly charged?: Money;
  /** The amount that went back to the account; set together with `charged`. */
  readonly released?: Money;
}

export interface WantedDecision {
  readonly resolution: Resolution;
  readonly reason: string;
}

/** A decision that was made, and its effect on the money. */
export interface MadeDecision {
  readonly resolution: Resolution;
  readonly at: number;
  /** Undefined if it could not be read. */
  readonly money?: DecidedMoney;
}

/** The queue, the oldest first. */
export interface AttentionList {
  readonly items: readonly AttentionRow[];
  readonly hasMore: boolean;
}

type SendCall = <A>(call: RpcCall<A>) => Promise<A>;

/** Reads the queue and then its money. Without the money the decisions say that their amounts are not known. */
export async function readAttention(send: SendCall): Promise<AttentionList> {
  const { items } = await send(toCall('tasks.OperatorService/ListAttention', {}));
  const shown = items.slice(0, ROWS_MAX);
  const calls = Array.from({ length: Math.ceil(shown.length / CHARGES_MAX) }, (_, at) => {
    const taskIds = shown.slice(at * CHARGES_MAX, (at + 1) * CHARGES_MAX).map(({ taskId }) => taskId);
    return toCall('billing.BillingService/ListCharges', { taskIds });
  });
  const answers = await Promise.all(calls.map(send)).catch((): ChargesAnswer[] => []);
  const charges = new Map(answers.flatMap((answer) => answer.charges).map((charge) => [charge.taskId, charge]));
  return { items: shown.map((item) => toRow(item, charges.get(item.taskId))), hasMore: items.length > shown.length };
}

function toRow({ taskId: id, since, state: ofItem, ...facts }: Item, charge: Charge | undefined): AttentionRow {
  const state = readWord('TASK_STATE_', ofItem);
  return {
    ...facts,
    ...{ id, state, since: readTime(since) ?? 0 },
    ...(charge === undefined ? {} : { held: toMoney(charge.heldNanos, charge.currency) }),
    decisions: listDecisions({ isJob: facts.isJob, state }, charge),
  };
}

/** The settlement of an entry. `deferred`: its usage was far above the hold, so it was not charged. */
type Settlement = 'not' | 'deferred' | 'charged' | 'released';

const SETTLED: Readonly<Record<Charge['basis'], Settlement>> = {
  BASIS_UNSPECIFIED: 'not',
  BASIS_USAGE: 'charged',
  BASIS_ESTIMATE: 'charged',
  BASIS_HOLD: 'charged',
  BASIS_RELEASED: 'released',
  BASIS_DEFERRED: 'deferred',
};

const REFUSED = attentionWords.refused;

/** Lists the decisions over an entry and the effect of each on its money, as the tasks service carries them out. */
export function listDecisions(item: ItemState, charge: Charge | undefined): Decision[] {
  const retry = planRetry(item, charge);
  if (charge === undefined)
    return [{ resolution: 'completed', isUnpriced: true }, { resolution: 'failed', isUnpriced: true }, retry];
  return [planCompleted(charge), planFailed(charge), retry];
}

function planRetry({ isJob, state }: ItemState, charge: Charge | undefined): Decision {
  if (isJob) return { resolution: 'retry', refusedBecause: REFUSED.job };
  const isDeferred = (state === 'completed' || state === 'failed') && charge?.basis === 'BASIS_DEFERRED';
  return { resolution: 'retry', ...(isDeferred ? { refusedBecause: REFUSED.deferred } : {}) };
}

/** Money that has moved already does not move again: then a decision only takes the entry off the list. */
function planCompleted(charge: Charge): Decision {
  const settled = SETTLED[charge.basis];
  if (settled === 'charged') return { resolution: 'completed' };
  if (settled === 'released') return { resolution: 'completed', refusedBecause: REFUSED.released };
  const nanos = settled === 'not' ? charge.heldNanos : charge.deferredNanos;
  if (nanos === undefined) return { resolution: 'completed', refusedBecause: REFUSED.tooLarge };
  return {
    resolution: 'completed',
    charge: toMoney(nanos, charge.currency),
    release: restOfHold(charge, nanos),
  };
}

function planFailed({ heldNanos, currency, basis }: Charge): Decision {
  if (SETTLED[basis] === 'released') return { resolution: 'failed' };
  if (SETTLED[basis] === 'charged') return { resolution: 'failed', refusedBecause: REFUSED.charged };
  return { resolution: 'failed', charge: toMoney(0n, currency), release: toMoney(heldNanos, currency) };
}

/** Decides over an entry, and reads its money afterwards. A repeat of the same decision has no further effect. */
export async function decide(
  send: SendCall,
  taskId: string,
  { resolution, reason }: WantedDecision,
): Promise<MadeDecision> {
  const request = { taskId, resolution: toEnumName('RESOLUTION_', resolution), reason };
  const { decidedAt = '' } = await send(toCall('tasks.OperatorService/ResolveAttention', request));
  const booked = toCall('billing.BillingService/ListCharges', { taskIds: [taskId] });
  const [charge] = await send(booked).then(
    ({ charges }) => charges,
    () => [],
  );
  return { resolution, at: readTime(decidedAt), ...(charge && { money: readDecidedMoney(charge) }) };
}

function readDecidedMoney(charge: Charge): DecidedMoney {
  const { heldNanos, chargedNanos = '0', currency, basis } = charge;
  const held = toMoney(heldNanos, currency);
  if (SETTLED[basis] === 'not' || SETTLED[basis] === 'deferred') return { held };
  return { held, charged: toMoney(chargedNanos, currency), released: restOfHold(charge, chargedNanos) };
}

function restOfHold({ heldNanos, currency }: Charge, takenNanos: string): Money {
  const rest = BigInt(heldNanos) - BigInt(takenNanos);
  return toMoney(rest > 0n ? rest : 0n, currency);
}
