import { beforeEach, describe, expect, test } from '@jest/globals';
import { create } from '@bufbuild/protobuf';
import { PlaceCallsResponseSchema } from '@reelgate/proto/billing/v1/call_service';
import { silentLog } from '@reelgate/platform/log';
import { Problem } from '@reelgate/platform/problem';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { readFields, catchRefusal } from '@reelgate/platform/testing/refusals';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { fakeCalls } from '../../../testing/fake-calls.ts';
import type { FakeCalls } from '../../../testing/fake-calls.ts';
import { untilAfter } from '@reelgate/platform/testing/until';
import type { CallCharges } from './call-charges.ts';
import type { CallOrder } from '../../domain/call-order.ts';
import { callsClient } from '../../clients/calls-client.ts';
import { newBatchedCharges } from './batched-charges.ts';
import { newHoldForecast } from './hold-forecast.ts';

let clock: FakeClock;
let calls: FakeCalls;
let charges: CallCharges & { stop(): Promise<void> };
beforeEach(() => {
  clock = fakeClock();
  calls = fakeCalls();
  charges = newBatchedCharges({ requests: callsClient(calls.client), forecast: aForecast(), clock, log: silentLog });
});
const tick = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const aForecast = () => newHoldForecast({ clock, holdMax: 1000 });
const anOrder = (over: Partial<CallOrder> = {}): CallOrder => ({
  callId: 'call_1',
  accountId: 'demo',
  tokenId: 'token',
  priceKeys: ['m__chat', 'm'],
  facts: {},
  lapsesAt: clock.now() + 1000,
  ...over,
});

describe('placing', () => {
  test('while calls come one by one, a call goes to billing in the next tick of the event loop', async () => {
    for (let call = 0; call < 3; call += 1) {
      void charges.place(anOrder({ callId: `call_${call}` }));
      await tick();
      await Promise.resolve();
      expect(calls.batches).toHaveLength(call + 1);
    }
  });

  test('as many calls as there were in the last request go to billing in the next tick of the event loop', async () => {
    const placeBoth = () => [1, 2].map((call) => charges.place(anOrder({ callId: `call_${call}` })));
    await Promise.all(placeBoth());
    void Promise.all(placeBoth());
    await tick();
    await Promise.resolve();

    expect(calls.batches).toEqual([2, 2]);
  });

  test('fewer calls than there were in the last request wait some ticks for the others', async () => {
    await Promise.all([1, 2].map((call) => charges.place(anOrder({ callId: `call_${call}` }))));
    const [early, late] = [charges.place(anOrder({ callId: 'call_3' })), tick().then(() => charges.place(anOrder()))];
    await Promise.all([early, late]);

    expect(calls.batches).toEqual([2, 2]);
  });

  test('calls of the same moment go to billing in one request', async () => {
    await Promise.all(Array.from({ length: 100 }, (_, index) => charges.place(anOrder({ callId: `call_${index}` }))));

    expect(calls.batches).toEqual([100]);
    expect(calls.placed.map(({ callId }) => callId)).toEqual(
      Array.from({ length: 100 }, (_, index) => `call_${index}`),
    );
  });
  test.each([
    [
      { inputTokens: 10, outputTokens: 20 },
      { inputTokens: 10n, outputTokens: 20n, images: 0n, characters: 0n },
    ],
    [{ inputTokens: 10 }, { inputTokens: 0n, outputTokens: 0n }],
    [
      { inputTokens: 10, outputTokens: 0 },
      { inputTokens: 10n, outputTokens: 0n },
    ],
    [{ images: 3 }, { images: 3n }],
    [{ characters: 7 }, { characters: 7n }],
  ])('if one side of the tokens is unknown, both are zero: %j', async (known, facts) => {
    await charges.place(anOrder({ facts: known }));

    expect(calls.placed[0]?.facts).toMatchObject(facts);
  });
  test('the refusal of billing is passed on', async () => {
    await charges.place(anOrder());
    calls.refusal = new Problem({ kind: 'exhausted', reason: 'insufficient_quota', message: 'not enough' });

    expect(readFields(await catchRefusal(charges.place(anOrder())))).toMatchObject({
      kind: 'exhausted',
      reason: 'insufficient_quota',
      message: 'not enough',
    });
  });
  test('a call is refused if billing does not say that it is held', async () => {
    charges = newBatchedCharges({
      requests: callsClient({ ...calls.client, placeCalls: async () => create(PlaceCallsResponseSchema, {}) }),
      forecast: aForecast(),
      clock,
      log: silentLog,
    });

    expect(readFields(await catchRefusal(charges.place(anOrder())))).toMatchObject({
      kind: 'internal',
      reason: 'internal_error',
    });
  });
  test('a hold is released if the answer is lost, because no call will be made under it', async () => {
    const lost = new Problem({ kind: 'unavailable', reason: 'service_unavailable', message: 'no answer' });
    charges = newBatchedCharges({
      requests: callsClient({ ...calls.client, placeCalls: () => Promise.reject(lost) }),
      forecast: aForecast(),
      clock,
      log: silentLog,
    });

    expect(await catchRefusal(charges.place(anOrder()))).toBe(lost);
    await untilAfter(clock, () => calls.settled.length === 1);

    expect(calls.settled[0]).toMatchObject({ callId: 'call_1', basis: Basis.RELEASED });
  });
  describe('while the disk writes the hold', () => {
    test('a reserved call may go on, and knows when its hold is durable', async () => {
      const written = Promise.withResolvers<undefined>();
      calls.confirming = () => written.promise;
      let isDurable = false;
      const { durable } = await charges.reserve(anOrder()).reserved;
      const noted = durable?.then(() => (isDurable = true));
      await clock.advance(1000);

      expect(isDurable).toBe(false);
      written.resolve(undefined);
      expect(await noted).toBe(true);
      expect(calls.settled).toEqual([]);
    });
    test('a placed call waits', async () => {
      const written = Promise.withResolvers<undefined>();
      calls.confirming = () => written.promise;
      let isPlaced = false;
      const placed = charges.place(anOrder()).then(() => (isPlaced = true));
      await untilAfter(clock, () => calls.placed.length === 1);
      await clock.advance(1000);

      expect(isPlaced).toBe(false);
      written.resolve(undefined);
      await placed;
    });
    test('a placed call is released if the hold does not get to the disk', async () => {
      const lost = new Problem({ kind: 'unavailable', reason: 'service_unavailable', message: 'no answer' });
      calls.confirming = () => Promise.reject(lost);

      expect(readFields(await catchRefusal(charges.place(anOrder())))).toMatchObject({ reason: 'service_unavailable' });
      await untilAfter(clock, () => calls.settled.length === 1);
      expect(calls.settled[0]).toMatchObject({ callId: 'call_1', basis: Basis.RELEASED });
    });
  });
  test('a refused call is not released: it has no hold', async () => {
    calls.refusal = new Problem({ kind: 'exhausted', reason: 'insufficient_quota', message: 'not enough' });
    await catchRefusal(charges.place(anOrder()));
    await clock.advance(60_000);

    expect(calls.settled).toEqual([]);
  });
});

describe('settling', () => {
  test.each([
    [
      { basis: 'usage', usage: { inputTokens: 1, cachedInputTokens: 1, outputTokens: 2 } },
      { basis: Basis.USAGE, usage: { inputTokens: 1n, cachedInputTokens: 1n, outputTokens: 2n } },
    ],
    [
      { basis: 'estimate', usage: { characters: 5 } },
      { basis: Basis.ESTIMATE, usage: { characters: 5n } },
    ],
    [{ basis: 'hold' }, { basis: Basis.HOLD }],
    [{ basis: 'released' }, { basis: Basis.RELEASED }],
  ] as const)('%j', async (charge, end) => {
    charges.settle({ callId: 'call_1', charge });
    await untilAfter(clock, () => calls.settled.length === 1);

    expect(calls.settled[0]).toMatchObject({ callId: 'call_1', ...end });
  });
  test('a settlement is repeated until billing takes it', async () => {
    calls.settleFaults = 3;
    charges.settle({ callId: 'call_1', charge: { basis: 'hold' } });
    for (let pause = 0; pause < 20 && calls.settled.length === 0; pause += 1) await clock.advance(1000);

    expect(calls.settled).toHaveLength(1);
  });
  describe('beside holds', () => {
    /** Lets the work of this moment run, but no time pass. */
    const runOut = (): Promise<void> => clock.advance(0);
    const settleSome = (count: number): void => {
      for (let at = 0; at < count; at += 1) charges.settle({ callId: `call_${at}`, charge: { basis: 'hold' } });
    };
    const openAhead = async (): Promise<void> => {
      calls.confirming = () => Promise.resolve();
      await charges.place(anOrder());
    };

    test('many settlements go with the next holds, whose sync they share', async () => {
      await openAhead();
      settleSome(25);
      await runOut();
      expect(calls.settled).toEqual([]);

      void charges.place(anOrder());
      await runOut();
      expect(calls.settled).toHaveLength(25);
    });
    test('few settlements go with the next holds once they have waited', async () => {
      await openAhead();
      settleSome(1);
      void charges.place(anOrder());
      await runOut();
      expect(calls.settled).toEqual([]);

      await clock.advance(10);
      void charges.place(anOrder());
      await runOut();
      expect(calls.settled).toHaveLength(1);
    });
    test('settlements go alone if the holds are durable when billing answers', async () => {
      await charges.place(anOrder());
      settleSome(25);
      void charges.place(anOrder());
      await runOut();
      expect(calls.settled).toEqual([]);

      await clock.advance(20);
      expect(calls.settled).toHaveLength(25);
    });
    test('a settlement after those that went with holds waits as long as any other', async () => {
      await openAhead();
      settleSome(25);
      await clock.advance(5);
      void charges.place(anOrder());
      await clock.advance(10);
      charges.settle({ callId: 'call_late', charge: { basis: 'hold' } });

      await clock.advance(19);
      expect(calls.settled).toHaveLength(25);
      await clock.advance(1);
      expect(calls.settled.at(-1)).toMatchObject({ callId: 'call_late' });
    });
  });
  test('a stop waits for settlements that are under way, for a limited time', async () => {
    calls.settleFaults = 1;
    charges.settle({ callId: 'call_1', charge: { basis: 'hold' } });
    const stopped = charges.stop();
    for (let pause = 0; pause < 5; pause += 1) await clock.advance(200);
    await stopped;
    expect(calls.settled).toHaveLength(1);

    calls.settleFaults = Infinity;
    charges = newBatchedCharges({ requests: callsClient(calls.client), forecast: aForecast(), clock, log: silentLog });
    charges.settle({ callId: 'call_2', charge: { basis: 'hold' } });
    const second = charges.stop();
    for (let pause = 0; pause < 10; pause += 1) await clock.advance(1000);
    await second;
    expect(calls.settled).toHaveLength(1);
  });
});
