import { listValues } from '@reelgate/platform/sql/named-values';
import type { NamedValues } from '@reelgate/platform/sql/named-values';
import type { SqlInteger, SqlQuery, SqlValue } from '@reelgate/platform/sql/sql';
import { byRows, inChunks, parameters } from '@reelgate/platform/sql/multi-row';
import type { Call, CallCharge, CallRecord } from '../../domain/call.ts';
import { NOTHING_REPORTED } from '../../domain/hold.ts';
import type { Settlement } from '../../domain/hold.ts';
import { formatParts, toPriceFacts } from '../usage/quantity-rows.ts';
import type { FactsRow } from '../usage/quantity-rows.ts';

export type CallRow = FactsRow & {
  id: string;
  account_id: string;
  token_id: string;
  amount_nanos: SqlInteger;
  currency: string;
  label: string;
  price_version: number;
  placed_at: SqlInteger;
  lapses_at: SqlInteger;
  basis: Settlement['basis'] | null;
  charged_nanos: SqlInteger | null;
  ended_at: SqlInteger | null;
};

/** The frozen columns that differ from call to call, by the names of a call and of its facts. */
const FROZEN = {
  id: 'id',
  accountId: 'account_id',
  tokenId: 'token_id',
  amount: 'amount_nanos',
  currency: 'currency',
  priceKey: 'price_key',
  priceVersion: 'price_version',
  seconds: 'seconds',
  images: 'images',
  inputTokens: 'input_tokens',
  outputTokens: 'output_tokens',
  characters: 'characters',
  lapsesAt: 'lapses_at',
  label: 'label',
} as const;
const FROZEN_NAMES = Object.keys(FROZEN) as readonly (keyof typeof FROZEN)[];
/** The columns of the batch follow them. */
export const FROZEN_COLUMNS = Object.values(FROZEN);
const CALL_COLUMNS = [...FROZEN_COLUMNS, 'placed_at', 'basis', 'charged_nanos', 'ended_at'].join(', ');

/** The values of the frozen columns. */
export function listFrozen({ facts, label = '', ...call }: Call): SqlValue[] {
  return listValues(FROZEN_NAMES, { ...facts, ...call, label });
}

/** The columns that an end writes; the id comes first. */
export const END_COLUMNS = [
  'id',
  'basis',
  'charged_nanos',
  'uncharged_nanos',
  'used_seconds',
  'used_images',
  'used_input_tokens',
  'used_cached_input_tokens',
  'used_output_tokens',
  'used_characters',
  'used_parts',
] as const;
const TEXTS: ReadonlySet<string> = new Set(['id', 'basis', 'used_parts']);
export const END_TYPES = END_COLUMNS.map((column) => (TEXTS.has(column) ? 'TEXT' : 'BIGINT'));

export function toEndRow(
  id: string,
  { amount, basis, uncharged, usage = NOTHING_REPORTED }: CallCharge,
): NamedValues<(typeof END_COLUMNS)[number]> {
  return {
    id,
    basis,
    charged_nanos: amount,
    uncharged_nanos: uncharged,
    used_seconds: usage.seconds ?? null,
    used_images: usage.images ?? null,
    used_input_tokens: usage.inputTokens ?? null,
    used_cached_input_tokens: usage.cachedInputTokens ?? null,
    used_output_tokens: usage.outputTokens ?? null,
    used_characters: usage.characters ?? null,
    used_parts: formatParts(usage),
  };
}

function toCallRecord(row: CallRow): CallRecord {
  const call: Call = {
    id: row.id,
    accountId: row.account_id,
    tokenId: row.token_id,
    amount: BigInt(row.amount_nanos),
    currency: row.currency,
    priceVersion: row.price_version,
    placedAt: Number(row.placed_at),
    lapsesAt: Number(row.lapses_at),
    label: row.label || undefined,
    facts: toPriceFacts(row),
  };
  return {
    call,
    settlement:
      row.ended_at === null || row.basis === null
        ? undefined
        : { amount: BigInt(row.charged_nanos ?? 0), basis: row.basis, at: Number(row.ended_at) },
  };
}

const FIND = byRows((rows) => `SELECT ${CALL_COLUMNS} FROM calls WHERE id IN (${parameters(rows)})`);

/** The records of the ids that are known. */
export async function findCalls(query: SqlQuery, ids: readonly string[]): Promise<Map<string, CallRecord>> {
  const found = new Map<string, CallRecord>();
  for (const chunk of inChunks(ids)) {
    for (const row of await query<CallRow>(FIND(chunk.length), chunk)) found.set(row.id, toCallRecord(row));
  }
  return found;
}
