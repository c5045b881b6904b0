import type { NamedValues } from '@reelgate/platform/sql/named-values';
import type { SqlInteger, SqlQuery } from '@reelgate/platform/sql/sql';
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

/** The frozen columns that differ from call to call. The columns of the batch follow them. */
export const FROZEN_COLUMNS = [
  'id',
  'account_id',
  'token_id',
  'amount_nanos',
  'currency',
  'price_key',
  'price_version',
  'seconds',
  'images',
  'input_tokens',
  'output_tokens',
  'characters',
  'lapses_at',
  'label',
] as const;
const CALL_COLUMNS = [...FROZEN_COLUMNS, 'placed_at', 'basis', 'charged_nanos', 'ended_at'].join(', ');

export function toFrozenRow(call: Call): NamedValues<(typeof FROZEN_COLUMNS)[number]> {
  const { facts } = call;
  return {
    id: call.id,
    account_id: call.accountId,
    token_id: call.tokenId,
    amount_nanos: call.amount,
    currency: call.currency,
    price_key: facts.priceKey,
    price_version: call.priceVersion,
    seconds: facts.seconds,
    images: facts.images,
    input_tokens: facts.inputTokens,
    output_tokens: facts.outputTokens,
    characters: facts.characters,
    lapses_at: call.lapsesAt,
    label: call.label ?? '',
  };
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
