import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { newMomentBatcher } from '@reelgate/platform/batcher';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { byRows, inChunks, parameters } from '@reelgate/platform/sql/multi-row';
import { buildStatement } from '@reelgate/platform/sql/named-values';
import type { Sql, SqlInteger, SqlQuery, SqlRunner } from '@reelgate/platform/sql/sql';
import { StoreUnavailable } from '@reelgate/platform/sql/sql';
import { Basis, ChargeSchema, LedgerLineSchema } from '@reelgate/proto/billing/v1/hold';
import type { Charge } from '@reelgate/proto/billing/v1/hold';
import type { ChargeBasis, Hold } from '../../domain/hold.ts';
import { SERVICE_ACTOR, extendEvent, extendKey, holdKey, listTaskKeys } from '../../domain/ledger.ts';
import type { PriceFacts } from '../../domain/price.ts';
import type { PriceTerms } from '../../domain/price-terms.ts';
import { assertCovered, reserveMore } from '../balances/sql-hold-reservations.ts';
import { findCalls } from '../calls/call-rows.ts';
import { hasEvent, postEvent, recordVoid } from '../ledger/sql-ledger-events.ts';
import { newTermsCache } from '../prices/sql-price-store.ts';
import { findHold, findVoid, newHoldLock } from './hold-rows.ts';
import type { HoldStore, NewPrice, Outcome } from './hold-store.ts';
import { endHolds } from './sql-end-holds.ts';
import type { EndRequest, HoldEnding, HoldReads } from './sql-end-holds.ts';
import { NotAtOnce, placeAtOnce, placeHolds } from './sql-place-holds.ts';
import type { HoldPlacement, PlacementRequest } from './sql-place-holds.ts';

const COLUMNS = 'task_id, account_id, amount_nanos, currency, state, basis, charged_nanos, deferred_at, deferred_nanos';
const OF_TASKS = byRows((rows) => `SELECT ${COLUMNS} FROM holds WHERE task_id IN (${parameters(rows)})`);
const OF_TASKS_OF_ACCOUNT = byRows(
  (rows) => `SELECT ${COLUMNS} FROM holds WHERE account_id = $1 AND task_id IN (${parameters(rows, 2)})`,
);

type FrozenFact = Exclude<keyof PriceFacts, 'priceKey' | 'cachedInputTokens' | 'parts' | 'searches'>;
const EXTEND = buildStatement<'taskId' | 'amount' | FrozenFact>(
  (value) => `UPDATE holds SET amount_nanos = ${value('amount')}, resolution = ${value('resolution')},
    seconds = ${value('seconds')}, input_video_seconds = ${value('inputVideoSeconds')}, images = ${value('images')},
    input_tokens = ${value('inputTokens')}, output_tokens = ${value('outputTokens')},
    characters = ${value('characters')} WHERE task_id = ${value('taskId')}`,
);
const LINES = `SELECT e.event_key, l.book, l.amount_nanos, e.occurred_at
  FROM financial_events e JOIN ledger_lines l ON l.event_key = e.event_key
  WHERE e.event_key IN (${parameters(listTaskKeys('').length)})
  ORDER BY e.occurred_at, CASE e.kind WHEN 'hold' THEN 0 WHEN 'extend' THEN 1 ELSE 2 END, l.book`;

const BASES = deriveValues(Basis);

/** Of the holds of one moment. A batch that waits for a row does not hold all others up. */
const BATCH = { batchMax: 64, concurrency: 4 };

export function sqlHoldStore(sql: Sql): HoldStore {
  const reads = { lockHolds: newHoldLock(sql), termsOf: newTermsCache() };
  const endInBatch = newEndBatcher(sql, reads);
  return {
    place: newHoldPlacer(sql),
    assertCovered: (owner, amount, now) => assertCovered(sql.read, owner, { amount, now }),
    extend: (taskId, at, reprice) => sql.transaction((query) => extend(query, { taskId, at, ...reads }, reprice)),
    end: async (taskId, at, decide, mayRepeat) => {
      // an ended hold never changes
      const known = mayRepeat ? await findHold(sql.read, taskId) : undefined;
      if (known !== undefined && known.state !== 'open') return { record: known, isNew: false };
      return endInBatch({ taskId, at, decide });
    },
    preclude: (taskId, at) =>
      sql.transaction((query) => recordVoid(query, { key: holdKey(taskId), taskId, actor: SERVICE_ACTOR, at })),
    find: (taskId) => findHold(sql.read, taskId),
    charges: (taskIds, accountId) => readCharges(sql.read, taskIds, accountId),
    lines: async (taskId) => {
      const rows = await sql.read<{
        event_key: string;
        book: string;
        amount_nanos: SqlInteger;
        occurred_at: SqlInteger;
      }>(LINES, listTaskKeys(taskId));
      return rows.map((row) =>
        toMessage(LedgerLineSchema, {
          ...{ eventKey: row.event_key, book: row.book, amountNanos: BigInt(row.amount_nanos) },
          at: timestampFromMs(Number(row.occurred_at)),
        }),
      );
    },
  };
}

/**
 * Holds that are asked for at the same moment are placed in one transaction. If it fails for another reason than the
 * database being away, each is placed alone, so that it fails for its own reason only.
 */
function newHoldPlacer(sql: Sql): HoldStore['place'] {
  const place = (batch: readonly PlacementRequest[]): Promise<readonly HoldPlacement[]> =>
    sql
      .transaction((query) => placeAtOnce(query, batch))
      .catch((error: unknown) => {
        if (!(error instanceof NotAtOnce)) throw error;
        return sql.transaction((query) => placeHolds(query, batch));
      });
  const add = newMomentBatcher({ ...BATCH, run: place, isFinal: isAway });
  return async (hold, signal) => {
    signal?.throwIfAborted();
    const placed = await add({ hold, signal });
    if ('refusal' in placed) throw placed.refusal;
    return placed;
  };
}

/** Holds that end at the same moment end in one transaction: their sums of usage, tokens and accounts change once. */
function newEndBatcher(sql: Sql, reads: HoldReads): (request: EndRequest) => Promise<Outcome | undefined> {
  const add = newMomentBatcher<EndRequest, HoldEnding>({
    ...BATCH,
    run: (batch) => sql.transaction((query) => endHolds(query, batch, reads)),
    isFinal: isAway,
  });
  return async (request) => {
    const ending = await add(request);
    if ('refusal' in ending) throw ending.refusal;
    return ending.outcome;
  };
}

/** While the database is away, no request can succeed alone. */
function isAway(error: unknown): boolean {
  return error instanceof StoreUnavailable;
}

interface Change extends HoldReads {
  readonly taskId: string;
  readonly at: number;
}

async function extend(
  query: SqlRunner,
  { taskId, at, lockHolds, termsOf }: Change,
  reprice: (hold: Hold, terms: PriceTerms) => NewPrice,
): Promise<Outcome | undefined> {
  const record = (await lockHolds(query, [taskId])).get(taskId) ?? (await findVoid(query, taskId));
  if (record?.state !== 'open') return record && { record, isNew: false };
  const { hold } = record;
  // judged once: an extended hold stays as it is, whatever a repeat requests
  if (await hasEvent(query, extendKey(taskId))) return { record, isNew: false };
  const { amount, facts } = reprice(hold, await termsOf(query, hold.facts.priceKey, hold.priceVersion));
  const more = amount - hold.amount;
  await postEvent(query, extendEvent(hold, more, at));
  await query(...EXTEND({ ...facts, taskId, amount }));
  await reserveMore(query, hold, more);
  return { record: { ...record, hold: { ...hold, amount, facts } }, isNew: true };
}

type ChargeRow = {
  task_id: string;
  account_id: string;
  amount_nanos: SqlInteger;
  currency: string;
  state: 'open' | 'settled' | 'released';
  basis: ChargeBasis | null;
  charged_nanos: SqlInteger | null;
  deferred_at: SqlInteger | null;
  deferred_nanos: SqlInteger | null;
};

/** The charges of the tasks and jobs that have a hold, of one account or of all. */
async function readCharges(
  query: SqlQuery,
  taskIds: readonly string[],
  accountId: string | undefined,
): Promise<Charge[]> {
  const charges: Charge[] = [];
  for (const chunk of inChunks(taskIds)) {
    const rows = await (accountId === undefined
      ? query<ChargeRow>(OF_TASKS(chunk.length), chunk)
      : query<ChargeRow>(OF_TASKS_OF_ACCOUNT(chunk.length), [accountId, ...chunk]));
    charges.push(...rows.map(readCharge));
  }
  const known = new Set(charges.map(({ taskId }) => taskId));
  const others = taskIds.filter((id) => !known.has(id));
  return others.length === 0 ? charges : [...charges, ...(await readCallCharges(query, others, accountId))];
}

/** A job uses the hold of its call, which has the id of the job. */
async function readCallCharges(
  query: SqlQuery,
  ids: readonly string[],
  accountId: string | undefined,
): Promise<Charge[]> {
  return [...(await findCalls(query, ids)).values()]
    .filter(({ call }) => accountId === undefined || call.accountId === accountId)
    .map(({ call: { id, accountId: owner, amount, currency }, settlement }) =>
      toMessage(ChargeSchema, {
        ...{ taskId: id, accountId: owner, heldNanos: amount, currency },
        ...{
          chargedNanos: settlement?.amount,
          basis: settlement === undefined ? Basis.UNSPECIFIED : BASES[settlement.basis],
        },
        deferredNanos: undefined,
      }),
    );
}

/** A released hold is charged zero. A deferred one has no charge yet, and the cost of its usage if it fits an amount. */
function readCharge(row: ChargeRow): Charge {
  const { task_id: taskId, account_id: accountId, amount_nanos: held, currency, state, basis } = row;
  const isDeferred = state === 'open' && row.deferred_at !== null;
  const settled = state === 'released' ? 'released' : state === 'settled' ? basis : null;
  return toMessage(ChargeSchema, {
    ...{ taskId, accountId, heldNanos: BigInt(held), currency },
    basis: settled === null ? (isDeferred ? Basis.DEFERRED : Basis.UNSPECIFIED) : BASES[settled],
    chargedNanos: settled === null ? undefined : BigInt(row.charged_nanos ?? 0),
    deferredNanos: isDeferred && row.deferred_nanos !== null ? BigInt(row.deferred_nanos) : undefined,
  });
}
