import { inExactChunks } from '@reelgate/platform/sql/multi-row';
import type { SqlQuery, SqlStatement, SqlWork } from '@reelgate/platform/sql/sql';
import { insertMany } from '../columns.ts';

/*
 * When a receiver is due. Every transaction that changes the pending deliveries of a receiver locks its row, several in
 * the order of their ids, and an endpoint's row before that of its receiver. So a due time never misses a delivery: what
 * reads the deliveries does it in a later statement, which sees all that was committed before the lock was taken.
 */

export interface ReceiverName {
  readonly id: string;
  readonly accountId: string;
  readonly endpointId: string;
}

/** Deliveries that one statement ends. What is left ends when it is due. */
const ENDED_MAX = 1000;

/** Deliveries that become due by one success or one change. The others follow by their schedule. */
const HURRIED_MAX = 5000;
/** A delivery that fails while others succeed becomes due so often, so that it does not use up its schedule. */
const HURRIES_MAX = 3;
/** The receiver asked to be left alone. */
const TOO_MANY_REQUESTS = 429;

const DUE = `CASE WHEN webhook_receivers.open_until > excluded.due_at THEN webhook_receivers.open_until
  ELSE excluded.due_at END`;
/** The due time of a leased receiver stays the end of its lease. */
const WAKE = insertMany(
  'webhook_receivers',
  ['id', 'account_id', 'endpoint_id', 'due_at', 'updated_at'],
  `ON CONFLICT (id) DO UPDATE SET due_at = ${DUE}
    WHERE webhook_receivers.lease IS NULL
      AND (webhook_receivers.due_at IS NULL OR webhook_receivers.due_at > ${DUE})`,
);
const FROM_DELIVERIES = `due_at = CASE WHEN open_until > pending.due_at THEN open_until ELSE pending.due_at END
  FROM (SELECT MIN(due_at) AS due_at FROM webhook_deliveries WHERE receiver_id = $1 AND due_at IS NOT NULL) AS pending`;
const RETURN_LEASE = `UPDATE webhook_receivers SET lease = NULL, lease_until = NULL, updated_at = $2, ${FROM_DELIVERIES}
  WHERE webhook_receivers.id = $1`;
const REFRESH = `UPDATE webhook_receivers SET updated_at = $2, ${FROM_DELIVERIES}
  WHERE webhook_receivers.id = $1 AND lease IS NULL`;
const END_PENDING = `UPDATE webhook_deliveries SET state = 'failed', error = $2, due_at = NULL, ended_at = $3
  WHERE id IN (SELECT id FROM webhook_deliveries WHERE receiver_id = $1 AND due_at IS NOT NULL
    ORDER BY due_at LIMIT ${ENDED_MAX})`;

const HURRY = `UPDATE webhook_deliveries SET due_at = $2, hurries = hurries + 1
  WHERE id IN (SELECT id FROM webhook_deliveries WHERE receiver_id = $1 AND due_at > $2
    AND hurries < ${HURRIES_MAX} AND status <> ${TOO_MANY_REQUESTS}
    ORDER BY due_at LIMIT ${HURRIED_MAX})`;
const RESEND_PENDING = `UPDATE webhook_deliveries SET due_at = $2, hurries = 0, attempts_before = attempts
  WHERE id IN (SELECT id FROM webhook_deliveries WHERE receiver_id = $1 AND due_at > $2
    ORDER BY due_at LIMIT ${HURRIED_MAX})`;
const CLOSE = `UPDATE webhook_receivers SET open_until = NULL, due_at = CASE WHEN lease IS NULL THEN $2 ELSE due_at END
  WHERE id = $1`;

/**
 * The statements that set receivers due at once, or when their circuits let an attempt through. The rows are locked
 * until the commit.
 */
export function buildWakes(receivers: readonly ReceiverName[], at: number): readonly SqlStatement[] {
  const inOrder = [...new Map(receivers.map((one) => [one.id, one])).values()].toSorted((one, other) =>
    one.id < other.id ? -1 : 1,
  );
  return inExactChunks(inOrder).map((chunk) =>
    WAKE(
      chunk.map(({ id, accountId, endpointId }) => ({
        id,
        account_id: accountId,
        endpoint_id: endpointId,
        due_at: at,
        updated_at: at,
      })),
    ),
  );
}

/** Returns a lease: the receiver is due with the first of its deliveries. Its row is locked already. */
export async function returnLease(query: SqlQuery, receiverId: string, at: number): Promise<void> {
  await query(RETURN_LEASE, [receiverId, at]);
}

/** The same for a receiver that is not leased. */
export async function refreshDueTime(query: SqlQuery, receiverId: string, at: number): Promise<void> {
  await query(REFRESH, [receiverId, at]);
}

/** Lets the next attempt to a receiver begin at once, although its circuit is open. Its row is locked already. */
export async function closeCircuit(query: SqlWork, receiverId: string, at: number): Promise<void> {
  await query.changes(CLOSE, [receiverId, at]);
}

/** Makes pending deliveries of a receiver that has recovered due at once. Its row is locked already. */
export async function hurryPending(query: SqlWork, receiverId: string, at: number): Promise<void> {
  await query.changes(HURRY, [receiverId, at]);
}

/** The same at the wish of its owner: under a new schedule, and however often. */
export async function resendPending(query: SqlWork, receiverId: string, at: number): Promise<void> {
  await query.changes(RESEND_PENDING, [receiverId, at]);
}

/** Ends pending deliveries of a receiver as failed. Its row is locked already. */
export async function endPending(query: SqlWork, receiverId: string, error: string, at: number): Promise<void> {
  await query.changes(END_PENDING, [receiverId, error, at]);
}
