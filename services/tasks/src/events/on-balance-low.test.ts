import { create } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { newLocalBus } from '@reelgate/platform/bus/local-bus';
import { silentLog } from '@reelgate/platform/log';
import { describeOnEngines } from '../../testing/store/describe-on-engines.ts';
import { BalanceLowSchema } from '@reelgate/proto/billing/v1/billing_events';
import { openDeliveryWorld } from '../../testing/webhooks/open-delivery-world.ts';
import type { DeliveryWorld } from '../../testing/webhooks/open-delivery-world.ts';
import { onBalanceLow } from './on-balance-low.ts';

const LOW = { accountId: 'acme', creditKey: 'credit_1', currency: 'USD', creditNanos: 20_000_000_000n };

/** Publishes the messages, each under an id of its own, and returns the events of the account afterwards. */
async function eventsAfter(world: DeliveryWorld, ...messages: readonly object[]) {
  const bus = newLocalBus(world.clock, silentLog);
  let woken = 0;
  await onBalanceLow(bus, { ...world.deps, wake: () => (woken += 1) });
  for (const [index, message] of messages.entries())
    await bus.publish(BalanceLowSchema, create(BalanceLowSchema, { ...LOW, ...message }), `message_${index}`);
  await bus.close();
  expect(woken).toBe(messages.length);
  await world.dispatch();
  return world.deps.webhooks.eventsAfter({ accountId: 'acme' }, 0, 100);
}

describeOnEngines('a message of a low balance', (open) => {
  test('that comes twice is one event', async () => {
    const world = await openDeliveryWorld(open());

    const events = await eventsAfter(world, { availableNanos: 1_230_000_000n }, { availableNanos: 900_000_000n });

    expect(events).toMatchObject([
      {
        id: expect.stringMatching(/^evt_[0-9a-v]{26}$/),
        type: 'balance.low',
        subjectId: 'acme',
        dataJson: '{"currency":"USD","available":"1.23","last_credit":"20.00"}',
      },
    ]);
  });

  test('after another credit is another event', async () => {
    const world = await openDeliveryWorld(open());

    expect(await eventsAfter(world, {}, { creditKey: 'credit_2' })).toHaveLength(2);
  });

  test.each([
    [0n, '0.00'],
    [5n, '0.000000005'],
    [1_500_000_000n, '1.50'],
    [-2_000_000_001n, '-2.000000001'],
  ])('shows %s billionths as %s', async (availableNanos, available) => {
    const world = await openDeliveryWorld(open());

    const [event] = await eventsAfter(world, { availableNanos });

    expect(JSON.parse(event!.dataJson!)).toMatchObject({ available });
  });
});
