import { waitForTicks, newBatcher } from '@reelgate/platform/batcher';
import type { Sql, SqlQuery } from '@reelgate/platform/sql/sql';
import { StoreUnavailable } from '@reelgate/platform/sql/store-unavailable';
import type { Hold, HoldRecord } from '../../domain/hold.ts';
import { SERVICE_ACTOR, extendEvent, holdKey, releaseEvent, settleEvent } from '../../domain/ledger.ts';
import type { Nanos } from '../../domain/money.ts';
import type { PriceTerms } from '../../domain/price-terms.ts';
import type { HoldDecision } from '../../domain/settlement.ts';
import { computeQuantities } from '../../domain/usage.ts';
import { newDeferral, newRelease } from './hold-rows.ts';
import type { HoldStore, Outcome, NewPrice } from './hold-store.ts';
import { readCharges } from './sql-charges.ts';
import { findHold, lockHold } from './sql-find-hold.ts';
import { placeHolds } from './sql-place-holds.ts';
import type { HoldPlacement, PlacementRequest } from './sql-place-holds.ts';
import { assertCovered, changeBoth, reserveMore } from '../balances/sql-hold-reservations.ts';
import { postEvent, recordEvent, recordVoid } from '../ledger/sql-ledger-events.ts';
import { newTermsCache } from '../prices/sql-price-terms.ts';
import type { TermsOf } from '../prices/sql-price-terms.ts';
import { countUsage } from '../usage/sql-usage-hours.ts';

type Whole = number | bigint;
type OpenHold = Extract<HoldRecord, { state: 'open' }>;

const EXTEND = `UPDATE holds SET amount_nanos = $1, resolution = $2, seconds = $3, input_video_seconds = $4,
    images = $5, input_tokens = $6, output_tokens = $7, characters = $8 WHERE task_id = $9`;
const SETTLE = `UPDATE holds SET state = 'settled', basis = $1, charged_nanos = $2, ended_at = $3, used_seconds = $4,
    used_input_tokens = $5, used_output_tokens = $6 WHERE task_id = $7`;
const RELEASE = "UPDATE holds SET state = 'released', ended_at = $1 WHERE task_id = $2";
const DEFER = 'UPDATE holds SET deferred_nanos = $1, deferred_at = $2 WHERE task_id = $3';
const LINES = `SELECT e.event_key, l.book, l.amount_nanos, e.occurred_at
  FROM financial_events e JOIN ledger_lines l ON l.event_key = e.event_key
  WHERE e.task_id = $1 ORDER BY e.occurred_at, CASE e.kind WHEN 'hold' THEN 0 WHEN 'extend' THEN 1 ELSE 2 END, l.book`;

/** Of the holds of one moment. A batch that waits for a row does not hold all others up. */
const BATCH = { batchMax: 64, concurrency: 4 };

export function sqlHoldStore(sql: Sql): HoldStore {
  const termsOf = newTermsCache();
  return {
    place: newHoldPlacer(sql),
    assertCovered: (owner, amount, now) => assertCovered(sql.read, owner, { amount, now }),
    extend: (taskId, at, reprice) => sql.transaction((query) => extend(query, { taskId, at, termsOf }, reprice)),
    end: async (taskId, at, decide, mayRepeat) => {
      // an ended hold never changes
      const known = mayRepeat ? await findHold(sql.read, taskId) : undefined;
      if (known !== undefined && known.state !== 'open') return { record: known, isNew: false };
      return sql.transaction((query) => end(query, { taskId, at, termsOf }, decide));
    },
    preclude: (taskId, at) =>
      sql.transaction((query) => recordVoid(query, { key: holdKey(taskId), taskId, actor: SERVICE_ACTOR, at })),
    find: (taskId) => findHold(sql.read, taskId),
    charges: (taskIds, accountId) => readCharges(sql.read, taskIds, accountId),
    lines: async (taskId) => {
      const rows = await sql.read<{ event_key: string; book: string; amount_nanos: Whole; occurred_at: Whole }>(LINES, [
        taskId,
      ]);
      return rows.map((row) => ({
        eventKey: row.event_key,
        book: row.book,
        amount: BigInt(row.amount_nanos),
        at: Number(row.occurred_at),
      }));
    },
  };
}

/**
 * Holds that are asked for at the same moment are placed in one transaction. If it fails for another reason than the
 * database being away, each is placed alone, so that it fails for its own reason only.
 */
function newHoldPlacer(sql: Sql): HoldStore['place'] {
  const place = (batch: readonly PlacementRequest[]): Promise<readonly HoldPlacement[]> =>
    sql.transaction((query) => placeHolds(query, batch));
  const placeAlone = (one: PlacementRequest): Promise<readonly HoldPlacement[]> =>
    place([one]).catch((refusal: unknown) => [{ refusal }]);
  const batcher = newBatcher<PlacementRequest, HoldPlacement>({
    ...BATCH,
    fill: () => waitForTicks(1),
    send: async (batch) => {
      try {
        return await place(batch);
      } catch (error) {
        if (batch.length === 1 || error instanceof StoreUnavailable) throw error;
        return (await Promise.all(batch.map(placeAlone))).flat();
      }
    },
  });
  return async (hold, signal) => {
    signal?.throwIfAborted();
    const placed = await batcher.add({ hold, signal });
    if ('refusal' in placed) throw placed.refusal;
    return placed;
  };
}

interface Change {
  readonly taskId: string;
  readonly at: number;
  readonly termsOf: TermsOf;
}

async function extend(
  query: SqlQuery,
  { taskId, at, termsOf }: Change,
  reprice: (hold: Hold, terms: PriceTerms) => NewPrice,
): Promise<Outcome | undefined> {
  const record = await lockHold(query, taskId);
  if (record?.state !== 'open') return record && { record, isNew: false };
  const { hold } = record;
  const { amount, facts } = reprice(hold, await termsOf(query, hold.facts.priceKey, hold.priceVersion));
  const more = amount - hold.amount;
  if (!(await recordEvent(query, extendEvent(hold, more, at)))) return { record, isNew: false };
  await query(EXTEND, [
    amount,
    facts.resolution,
    facts.seconds,
    facts.inputVideoSeconds,
    facts.images,
    facts.inputTokens,
    facts.outputTokens,
    facts.characters,
    taskId,
  ]);
  await reserveMore(query, hold, more);
  return { record: { ...record, hold: { ...hold, amount, facts } }, isNew: true };
}

/** The locked hold is open, so its last event cannot exist yet. */
async function end(
  query: SqlQuery,
  { taskId, at, termsOf }: Change,
  decide: (hold: Hold, terms: PriceTerms) => HoldDecision,
): Promise<Outcome | undefined> {
  const record = await lockHold(query, taskId);
  if (record?.state !== 'open') return record && { record, isNew: false };
  const { hold } = record;
  const ending = decide(hold, await termsOf(query, hold.facts.priceKey, hold.priceVersion));
  if (ending.kind === 'defer') return defer(query, record, ending.amount, at);
  if (ending.kind === 'release') {
    await Promise.all([
      query(RELEASE, [at, taskId]),
      postEvent(query, releaseEvent(hold, at)),
      changeBoth(query, hold, { balance: 0n, held: -hold.amount }),
    ]);
    return { record: { state: 'ended', hold, settlement: newRelease(at) }, isNew: true };
  }
  const { amount, basis, usage } = ending;
  const { accountId, tokenId, facts } = hold;
  const charged = { accountId, tokenId, priceKey: facts.priceKey, quantities: computeQuantities(amount, facts, usage) };
  const { seconds = null, inputTokens = null, outputTokens = null } = usage;
  await Promise.all([
    query(SETTLE, [basis, amount, at, seconds, inputTokens, outputTokens, taskId]),
    postEvent(query, settleEvent(hold, amount, at)),
    countUsage(query, [charged], at),
    changeBoth(query, hold, { balance: -amount, held: -hold.amount }),
  ]);
  return { record: { state: 'ended', hold, settlement: { amount, basis, at } }, isNew: true };
}

/** Keeps the time of the first deferral: since then the hold has waited for an operator. */
async function defer(
  query: SqlQuery,
  { hold, deferral }: OpenHold,
  amount: Nanos | undefined,
  at: number,
): Promise<Outcome> {
  const first = newDeferral(deferral?.at ?? at, amount);
  await query(DEFER, [amount ?? null, first.at, hold.taskId]);
  return { record: { state: 'open', hold, deferral: first }, isNew: deferral === undefined };
}
