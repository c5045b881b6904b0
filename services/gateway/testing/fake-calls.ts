import { Problem } from '@reelgate/platform/problem';
import { toWireProblem } from '@reelgate/platform/rpc/problems';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import { bind } from '@reelgate/platform/rpc/service';
import type { Client } from '@reelgate/platform/rpc/service';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { CallService } from '@reelgate/proto/billing/v1/call_service';
import type { CallEnd, CallOrder } from '@reelgate/proto/billing/v1/call_service';

/** Billing's side of the synchronous routes. It records its calls and refuses what the test tells it to. */
export interface FakeCalls {
  readonly client: Client<typeof CallService>;
  readonly placed: CallOrder[];
  readonly settled: CallEnd[];
  /** The sizes of the batches in order. */
  readonly batches: number[];
  /** The calls that are held and not settled yet. */
  readonly open: Set<string>;
  /** The refusal of every call, while it is set. */
  refusal: Problem | undefined;
  /** The number of settlements to fail next. */
  settleFaults: number;
  /** What the account has left after each batch; undefined: billing does not say. */
  left: bigint | undefined;
  /** The hold of each call. */
  held: bigint;
  /** What each batch waits for before it is answered. */
  reserving: (() => Promise<void>) | undefined;
  /** What confirms each batch; undefined: the holds are durable when they are placed. */
  confirming: (() => Promise<void>) | undefined;
}

export function fakeCalls(): FakeCalls {
  const fake: Omit<FakeCalls, 'client'> = {
    placed: [],
    settled: [],
    batches: [],
    open: new Set(),
    refusal: undefined,
    left: undefined,
    held: 1n,
    reserving: undefined,
    settleFaults: 0,
    confirming: undefined,
  };
  const client = directClient(
    CallService,
    bind(CallService, {
      placeCalls: async ({ calls }) => {
        fake.batches.push(calls.length);
        fake.placed.push(...calls);
        await fake.reserving?.();
        const { refusal } = fake;
        if (refusal !== undefined)
          return { refused: calls.map(({ callId }) => ({ callId, refusal: toWireProblem(refusal) })) };
        for (const { callId } of calls) fake.open.add(callId);
        const { held, left } = fake;
        return {
          held: calls.length,
          unwrittenBatch: fake.confirming === undefined ? '' : 'batch_1',
          heldNanos: calls.map(() => held),
          remainders:
            left === undefined
              ? []
              : calls.map(({ accountId, tokenId }) => ({ accountId, tokenId, accountNanos: left })),
        };
      },
      confirmCalls: async () => {
        await fake.confirming?.();
        return {};
      },
      settleCalls: async ({ ends }) => {
        if (fake.settleFaults > 0) {
          fake.settleFaults -= 1;
          throw new Problem({ kind: 'unavailable', reason: 'service_unavailable', message: 'not now' });
        }
        fake.settled.push(...ends);
        for (const { callId } of ends) fake.open.delete(callId);
        return { settlements: ends.map(() => ({})) };
      },
    }),
    aCaller(),
  );
  return Object.assign(fake, { client });
}
