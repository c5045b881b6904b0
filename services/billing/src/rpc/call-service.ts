import { create } from '@bufbuild/protobuf';
import { bind } from '@reelgate/platform/rpc/service';
import type { WholeMessage, Binding } from '@reelgate/platform/rpc/service';
import { isProblem } from '@reelgate/platform/problem';
import type { Problem } from '@reelgate/platform/problem';
import { toWireProblem } from '@reelgate/platform/rpc/problems';
import { compileRuleCheck, requireField } from '@reelgate/platform/rpc/rules';
import { CallOrderSchema, CallService, CallUsageSchema } from '@reelgate/proto/billing/v1/call_service';
import type {
  CallOrder,
  PlacedCallSchema,
  RefusedCallSchema,
  CallEnd as WireCallEnd,
  CallUsage,
} from '@reelgate/proto/billing/v1/call_service';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import type { BillingDeps } from '../operations/deps.ts';
import { confirmCalls, placeCalls } from '../operations/calls/place-calls.ts';
import type { CallRequest, CallPlacement, PlacedBatch } from '../operations/calls/place-calls.ts';
import { settleCalls } from '../operations/calls/settle-calls.ts';
import { toWireQuote, toWireSettlement } from './billing-mapping.ts';
import type { CallEnd } from '../domain/call.ts';
import { REPORTED_COUNTS } from '../domain/hold.ts';
import type { ReportedCount, ReportedUsage } from '../domain/hold.ts';
import { TOKEN_PARTS } from '../domain/token-rates.ts';

/** The rules of one call. The server checks the rules of the batch. */
const assertRules = compileRuleCheck(CallOrderSchema);
const NOTHING_PLACED: PlacedBatch = { placed: [], unwritten: undefined, remainders: [] };
/** More than one call can use. A larger count of an upstream is cut to this. */
const COUNT_MAX = 10n ** 15n;
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
            remainders: [...batch.remainders],
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
    const { facts, lapsesAt } = order;
    return {
      ...order,
      facts: requireField(facts, 'facts'),
      lapsesAt: timestampMs(requireField(lapsesAt, 'lapses_at')),
    };
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

function toWireRefused(callId: string, placed: CallPlacement | undefined): WholeMessage<typeof RefusedCallSchema>[] {
  if (placed === undefined) throw new Error(NO_RESULT);
  return 'held' in placed ? [] : [{ callId, refusal: toWireProblem(placed.refusal) }];
}

/** If a batch ends a call twice, the first end counts. */
function firstOfEach<K, V>(entries: readonly (readonly [K, V])[]): Map<K, V> {
  return new Map(entries.toReversed());
}

function fromWireEnd({ callId, basis, usage, channel: name }: WireCallEnd): readonly [string, CallEnd] {
  const channel = name || undefined;
  if (basis === Basis.HOLD) return [callId, { basis: 'hold', channel }];
  if (basis === Basis.RELEASED) return [callId, { basis: 'released' }];
  return [callId, { basis: basis === Basis.USAGE ? 'usage' : 'estimate', usage: readUsage(usage), channel }];
}

function readUsage({ parts, ...counts }: CallUsage = create(CallUsageSchema)): ReportedUsage {
  const usage: { -readonly [name in ReportedCount]?: bigint | undefined } = {};
  for (const name of REPORTED_COUNTS) usage[name] = readCount(counts[name]);
  return {
    ...usage,
    parts: parts && Object.fromEntries(TOKEN_PARTS.map((name) => [name, readCount(parts[name]) ?? 0n])),
  };
}

/** A negative count is ignored. */
function readCount(count: bigint | undefined): bigint | undefined {
  if (count === undefined || count < 0n) return undefined;
  return count > COUNT_MAX ? COUNT_MAX : count;
}
