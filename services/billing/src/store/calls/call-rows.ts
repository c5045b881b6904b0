import type { SqlValue, SqlQuery } from '@reelgate/platform/sql/sql';
import { byRows, inChunks, parameters } from '@reelgate/platform/sql/multi-row';
import type { Call, CallCharge, CallRecord } from '../../domain/call.ts';
import { NOTHING_REPORTED } from '../../domain/hold.ts';
import type { Settlement } from '../../domain/hold.ts';

type Whole = number | bigint;

export type CallRow = {
  id: string;
  account_id: string;
  token_id: string;
  amount_nanos: Whole;
  currency: string;
  price_key: string;
  price_version: number;
  seconds: Whole;
  images: Whole;
  input_tokens: Whole;
  output_tokens: Whole;
  characters: Whole;
  placed_at: Whole;
  lapses_at: Whole;
  basis: Settlement['basis'] | null;
  charged_nanos: Whole | null;
  ended_at: Whole | null;
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
] as const;
export const CALL_COLUMNS = [...FROZEN_COLUMNS, 'placed_at', 'basis', 'charged_nanos', 'ended_at'].join(', ');

/** In the order of FROZEN_COLUMNS. */
export function toFrozenRow(call: Call): SqlValue[] {
  const { facts } = call;
  return [
    call.id,
    call.accountId,
    call.tokenId,
    call.amount,
    call.currency,
    facts.priceKey,
    call.priceVersion,
    facts.seconds,
    facts.images,
    facts.inputTokens,
    facts.outputTokens,
    facts.characters,
    call.lapsesAt,
  ];
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
] as const;
export const END_TYPES = END_COLUMNS.map((_, index) => (index < 2 ? 'TEXT' : 'BIGINT'));

/** In the order of END_COLUMNS. */
export function toEndRow(id: string, { amount, basis, uncharged, usage = NOTHING_REPORTED }: CallCharge): SqlValue[] {
  const {
    seconds = null,
    images = null,
    inputTokens = null,
    cachedInputTokens = null,
    outputTokens = null,
    characters = null,
  } = usage;
  return [id, basis, amount, uncharged, seconds, images, inputTokens, cachedInputTokens, outputTokens, characters];
}

export function toCallRecord(row: CallRow): CallRecord {
  const call: Call = {
    id: row.id,
    accountId: row.account_id,
    tokenId: row.token_id,
    amount: BigInt(row.amount_nanos),
    currency: row.currency,
    priceVersion: row.price_version,
    placedAt: Number(row.placed_at),
    lapsesAt: Number(row.lapses_at),
    facts: {
      priceKey: row.price_key,
      resolution: '',
      seconds: BigInt(row.seconds),
      inputVideoSeconds: 0n,
      images: BigInt(row.images),
      inputTokens: BigInt(row.input_tokens),
      cachedInputTokens: 0n,
      outputTokens: BigInt(row.output_tokens),
      characters: BigInt(row.characters),
    },
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
