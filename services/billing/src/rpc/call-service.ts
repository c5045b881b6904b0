import { bind } from '@reelgate/platform/rpc/service';
import type { WholeMessage, Binding } from '@reelgate/platform/rpc/service';
import { isProblem } from '@reelgate/platform/problem';
import type { Problem } from '@reelgate/platform/problem';
import { toWireProblem } from '@reelgate/platform/rpc/problems';
import { compileRuleCheck, requireField } from '@reelgate/platform/rpc/rules';
import { CallOrderSchema, CallService } from '@reelgate/proto/billing/v1/call_service';
import type {
  CallOrder,
  PlacedCallSchema,
  RefusedCallSchema,
  RemainderSchema,
  CallEnd as WireCallEnd,
  CallUsage,
} from '@reelgate/proto/billing/v1/call_service';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import type { TokenParts as WireParts } from '@reelgate/proto/billing/v1/price';
import type { Remainder } from '../domain/account.ts';
import type { BillingDeps } from '../operations/deps.ts';
import { confirmCalls, placeCalls } from '../operations/calls/place-calls.ts';
import type { CallRequest, CallPlacement, PlacedBatch } from '../operations/calls/place-calls.ts';
import { settleCalls } from '../operations/calls/settle-calls.ts';
import { toWireQuote, toWireSettlement, fromWireFacts } from './billing-mapping.ts';
import type { CallEnd } from '../domain/call.ts';
import type { ReportedUsage } from '../domain/hold.ts';
import { TOKEN_PARTS } from '../domain/token-rates.ts';
import type { TokenParts } from '../domain/token-rates.ts';

/** The rules of one call. The server checks the rules of the batch. */
const assertRules = compileRuleCheck(CallOrderSchema);
const NOTHING_PLACED: PlacedBatch = { placed: [], unwritten: undefined, remainders: [] };
const NO_RESULT = 'a call of the batch has no result';

/** Decodes, runs the operation, encodes. */
export function callService(deps: BillingDeps): Binding {
  return bind(CallService, {
    placeCalls: async ({ calls, refusalsOnly, ahead }, { signal }) => {
      const orders = calls.map(readOrder);
      const sound = orders.flatMap((order) => ('refusal' in order ? [] : [order]));
      const batch = sound.length === 0 ? NOTHING_PLACED : await placeCalls(deps, sound, { ahead, signal });
      const answers = batch.placed.values();
      const placed = orders.map((order) => ('refusal' in order ? order : answers.next().value));
      const refused = placed.flatMap((one, at) => toWireRefused(calls[at]?.callId ?? '', one));
      const answer = { held: placed.length - refused.length, unwrittenBatch: batch.unwritten ?? '' };
      return refusalsOnly
        ? {
            ...answer,
            refused,
            heldNanos: placed.map(readHeldAmount),
            remainders: batch.remainders.map(toWireRemainder),
          }
        : { ...answer, placed: placed.map(toWirePlaced) };
    },
    confirmCalls: async ({ unwrittenBatch }) => {
      await confirmCalls(deps, unwrittenBatch);
      return {};
    },
    settleCalls: async ({ ends, withoutSettlements }) => {
      const settled = await settleCalls(deps, firstOfEach(ends.map(fromWireEnd)));
      return withoutSettlements
        ? {}
        : {
            settlements: ends.map(({ callId }) => {
              const settlement = settled.get(callId);
              return settlement === undefined ? {} : toWireSettlement(settlement);
            }),
          };
    },
  });
}

/** Refuses a malformed call alone: the other calls of the batch belong to other clients. */
function readOrder(order: CallOrder): CallRequest | { readonly refusal: Problem } {
  try {
    assertRules(order);
    return fromWireOrder(order);
  } catch (error) {
    if (!isProblem(error)) throw error;
    return { refusal: error };
  }
}

function toWirePlaced(placed: CallPlacement | undefined): WholeMessage<typeof PlacedCallSchema> {
  if (placed === undefined) throw new Error(NO_RESULT);
  return {
    result:
      'held' in placed
        ? { case: 'held', value: toWireQuote(placed.held) }
        : { case: 'refusal', value: toWireProblem(placed.refusal) },
  };
}

function readHeldAmount(placed: CallPlacement | undefined): bigint {
  return placed !== undefined && 'held' in placed ? placed.held.amount : 0n;
}

function toWireRemainder(remainder: Remainder): WholeMessage<typeof RemainderSchema> {
  const { accountId, tokenId, ofAccount: accountNanos, ofToken: tokenNanos } = remainder;
  return { accountId, tokenId, accountNanos, ...(tokenNanos === undefined ? {} : { tokenNanos }) };
}

function toWireRefused(callId: string, placed: CallPlacement | undefined): WholeMessage<typeof RefusedCallSchema>[] {
  if (placed === undefined) throw new Error(NO_RESULT);
  return 'held' in placed ? [] : [{ callId, refusal: toWireProblem(placed.refusal) }];
}

/** If a batch ends a call twice, the first end counts. */
function firstOfEach<K, V>(entries: readonly (readonly [K, V])[]): Map<K, V> {
  return new Map(entries.toReversed());
}

/** More than one call can use. A larger count of an upstream is cut to this. */
const COUNT_MAX = 10n ** 15n;

function fromWireOrder({ callId, accountId, tokenId, priceKeys, facts, lapsesAt, label }: CallOrder): CallRequest {
  return {
    callId,
    accountId,
    tokenId,
    priceKeys,
    facts: fromWireFacts(facts),
    lapsesAt: timestampMs(requireField(lapsesAt, 'lapses_at')),
    label: label || undefined,
  };
}

function fromWireEnd({ callId, basis, usage, channel: name }: WireCallEnd): readonly [string, CallEnd] {
  const channel = name || undefined;
  if (basis === Basis.HOLD) return [callId, { basis: 'hold', channel }];
  if (basis === Basis.RELEASED) return [callId, { basis: 'released' }];
  return [callId, { basis: basis === Basis.USAGE ? 'usage' : 'estimate', usage: fromWireUsage(usage), channel }];
}

function fromWireUsage(usage: CallUsage | undefined): ReportedUsage {
  return {
    seconds: readCount(usage?.seconds),
    inputTokens: readCount(usage?.inputTokens),
    outputTokens: readCount(usage?.outputTokens),
    cachedInputTokens: readCount(usage?.cachedInputTokens),
    images: readCount(usage?.images),
    characters: readCount(usage?.characters),
    parts: fromWireParts(usage?.parts),
    searches: readCount(usage?.searches),
  };
}

function fromWireParts(parts: WireParts | undefined): TokenParts | undefined {
  return parts && Object.fromEntries(TOKEN_PARTS.map((name) => [name, readCount(parts[name]) ?? 0n]));
}

/** A negative count is ignored. */
function readCount(count: bigint | undefined): bigint | undefined {
  if (count === undefined || count < 0n) return undefined;
  return count > COUNT_MAX ? COUNT_MAX : count;
}
