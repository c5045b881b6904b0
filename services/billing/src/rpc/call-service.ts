import type { WholeMessage } from '@reelgate/platform/rpc/service';
import { isProblem } from '@reelgate/platform/problem';
import type { Problem } from '@reelgate/platform/problem';
import { toWireProblem } from '@reelgate/platform/rpc/problems';
import { bind } from '@reelgate/platform/rpc/service';
import type { Binding } from '@reelgate/platform/rpc/service';
import { compileRuleCheck } from '@reelgate/platform/rpc/rules';
import { CallOrderSchema, CallService } from '@reelgate/proto/billing/v1/call_service';
import type {
  CallOrder,
  PlacedCallSchema,
  RefusedCallSchema,
  RemainderSchema,
} from '@reelgate/proto/billing/v1/call_service';
import type { Remainder } from '../domain/account.ts';
import type { BillingDeps } from '../operations/deps.ts';
import { confirmCalls } from '../operations/calls/place-calls.ts';
import { placeCalls } from '../operations/calls/place-calls.ts';
import type { CallRequest, CallPlacement, PlacedBatch } from '../operations/calls/place-calls.ts';
import { settleCalls } from '../operations/calls/settle-calls.ts';
import { fromWireEnd, fromWireOrder } from './call-mapping.ts';
import { toWireQuote, toWireSettlement } from './billing-mapping.ts';

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
