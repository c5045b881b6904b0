import { describe, expect, test } from '@jest/globals';
import { describeOnEngines } from '../../../testing/store/describe-on-engines.ts';
import { listEventIds, made, openDeliveryWorld } from '../../../testing/webhooks/open-delivery-world.ts';
import type { DeliveryWorld } from '../../../testing/webhooks/open-delivery-world.ts';
import { recordAttempts } from './record-attempts.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

async function oneEndpoint(world: DeliveryWorld, ...eventIds: readonly string[]): Promise<void> {
  await world.addEndpoint('whe_1');
  await world.happen(...eventIds.map((id) => ({ id })));
  await world.dispatch();
}
const deliveriesOf = async ({ deps }: DeliveryWorld, endpointId = 'whe_1') =>
  (await deps.webhooks.listDeliveries({ accountId: 'acme', endpointId }, { limit: 100 })).toSorted((one, other) =>
    one.eventId < other.eventId ? -1 : 1,
  );
const endpoint = ({ deps }: DeliveryWorld) => deps.webhooks.findEndpoint('acme', 'whe_1');

describeOnEngines('recorded attempts', (open) => {
  test('of a success end the delivery', async () => {
    const world = await openDeliveryWorld(open());
    await oneEndpoint(world, 'evt_1');

    expect(await world.answer(await world.lease(), 204)).toEqual([]);

    expect(await deliveriesOf(world)).toMatchObject([{ state: 'delivered', attempts: 1, status: 204, error: '' }]);
    expect(await world.lease()).toEqual([]);
    expect(world.told).toEqual(['dispatched', 'delivered']);
  });

  test('of a failure make it due again by the schedule, and after the eleventh no more', async () => {
    const world = await openDeliveryWorld(open());
    await oneEndpoint(world, 'evt_1');
    let attempts = 0;
    for (let leased = await world.lease(); leased.length > 0; leased = await world.lease()) {
      await world.answer(leased, 500);
      attempts += 1;
      const [{ dueAt } = { dueAt: undefined }] = await deliveriesOf(world);
      await world.clock.advance(Math.max(60_000, (dueAt ?? 0) - world.clock.now()));
    }

    expect(attempts).toBe(11);
    expect(await deliveriesOf(world)).toMatchObject([{ state: 'failed', attempts: 11, status: 500 }]);
    expect(world.told.filter((told) => told !== 'dispatched')).toEqual([
      ...Array.from({ length: 10 }, () => 'to_repeat'),
      'given_up',
    ]);
  });

  test('that are reported twice are written and counted once', async () => {
    const world = await openDeliveryWorld(open());
    await oneEndpoint(world, 'evt_1');
    const leased = await world.lease();
    await world.answer(leased, 500, { returned: false });

    expect(await world.answer(leased, 500)).toEqual([]);

    const [delivery] = await deliveriesOf(world);
    expect(delivery).toMatchObject({ attempts: 1 });
    expect(await world.deps.webhooks.listAttempts(delivery!.id)).toHaveLength(1);
    expect((await world.deps.webhooks.readHealth(['whe_1'])).get('whe_1')).toMatchObject({ failures: 1 });
    expect(world.told).toEqual(['dispatched', 'to_repeat']);
  });

  test('of another receiver are not written', async () => {
    const world = await openDeliveryWorld(open());
    await oneEndpoint(world, 'evt_1');
    await world.addEndpoint('whe_2');
    await world.happen({ id: 'evt_2' });
    await world.dispatch();
    const leased = await world.lease();
    const [one, other] = leased.toSorted((a, b) => (a.receiverId < b.receiverId ? -1 : 1));

    await world.answer([{ ...one!, deliveries: other!.deliveries }], 204);

    expect(await deliveriesOf(world, 'whe_2')).toMatchObject([{ state: 'pending', attempts: 0 }]);
  });

  test('are not repeated earlier than the receiver asks', async () => {
    const world = await openDeliveryWorld(open());
    await oneEndpoint(world, 'evt_1');
    const [{ receiverId, lease, deliveries }] = (await world.lease()) as [Awaited<ReturnType<typeof world.lease>>[0]];
    const attempt = { ...made(deliveries[0]!, 429, world.clock.now()), retryAfterMs: HOUR_MS };
    await recordAttempts(world.deps, [{ receiverId, lease, attempts: [attempt], returned: true }]);

    await world.clock.advance(HOUR_MS - 1);
    expect(await world.lease()).toEqual([]);
    await world.clock.advance(1);
    expect(listEventIds(await world.lease())).toEqual(['evt_1']);
  });

  test('name failures in the log with the host of the receiver alone', async () => {
    const world = await openDeliveryWorld(open());
    await oneEndpoint(world, 'evt_1');
    await world.answer(await world.lease(), 0);

    expect(world.lines).toEqual([expect.stringContaining('"host":"whe-1.example"')]);
    expect(world.lines[0]).toContain('"error":"timeout"');
    expect(world.lines.join()).not.toMatch(/secret-word|[/]hook/);
  });
});

describeOnEngines('an endpoint', (open) => {
  test('that answers 410 is disabled, and its pending deliveries end', async () => {
    const world = await openDeliveryWorld(open());
    await oneEndpoint(world, 'evt_1', 'evt_2');
    const [receiver] = await world.lease();
    const gone = receiver!.deliveries.filter(({ event }) => event?.id === 'evt_1');
    await world.answer([{ ...receiver!, deliveries: gone }], 410);

    expect(await endpoint(world)).toMatchObject({ disabled: { reason: 'gone', at: world.clock.now() } });
    expect(await deliveriesOf(world)).toMatchObject([
      { eventId: 'evt_1', state: 'failed', status: 410, attempts: 1 },
      { eventId: 'evt_2', state: 'failed', error: 'endpoint_disabled', attempts: 0 },
    ]);
    await world.happen({ id: 'evt_3' });
    await world.dispatch();
    expect(await world.lease()).toEqual([]);
    expect(world.told).toContain('disabled gone');
    expect(world.lines.at(-1)).toMatch(/a webhook endpoint was disabled .*"endpointId":"whe_1","reason":"gone"/);
  });

  test('that answers nothing but failures for five days is disabled', async () => {
    const world = await openDeliveryWorld(open());
    await oneEndpoint(world);
    const begun = world.clock.now();
    for (let index = 0; (await endpoint(world))?.disabled === undefined; index += 1) {
      await world.happen({ id: `evt_${index}` });
      await world.dispatch();
      await world.answer(await world.lease(), 500);
      await world.clock.advance(HOUR_MS);
    }

    const { disabled } = (await endpoint(world))!;
    expect(disabled?.reason).toBe('failing');
    expect(disabled!.at - begun).toBeGreaterThanOrEqual(5 * DAY_MS);
    expect(disabled!.at - begun).toBeLessThan(5 * DAY_MS + 2 * HOUR_MS);
    expect(world.told.filter((told) => told.startsWith('disabled'))).toEqual(['disabled failing']);
  }, 120_000);

  test('that answers once within the five days is not disabled', async () => {
    const world = await openDeliveryWorld(open());
    await oneEndpoint(world);
    for (let index = 0; index < 7 * 4; index += 1) {
      await world.happen({ id: `evt_${index}` });
      await world.dispatch();
      await world.answer(await world.lease(), index === 12 ? 204 : 500);
      await world.clock.advance(6 * HOUR_MS);
    }

    expect((await endpoint(world))?.disabled).toBeUndefined();
  }, 120_000);
});

describeOnEngines('the URL of a request', (open) => {
  test('that answers 410 ends its delivery alone', async () => {
    const world = await openDeliveryWorld(open());
    await world.happen(
      { id: 'evt_1', url: 'https://hooks.example/gone' },
      { id: 'evt_2', url: 'https://hooks.example/kept' },
    );
    await world.dispatch();
    const [receiver] = await world.lease();
    const gone = receiver!.deliveries.filter(({ url }) => url.endsWith('/gone'));
    await world.answer([{ ...receiver!, deliveries: gone }], 410);

    expect(await deliveriesOf(world, 'default')).toMatchObject([{ state: 'failed' }, { state: 'pending' }]);
    expect(listEventIds(await world.lease())).toEqual(['evt_2']);
    expect(world.told).toEqual(['dispatched', 'given_up']);
  });
});

describe('a record without attempts', () => {
  describeOnEngines('of a leased receiver', (open) => {
    test('gives its lease back, and its deliveries are leased again at once', async () => {
      const world = await openDeliveryWorld(open());
      await oneEndpoint(world, 'evt_1');
      const leased = await world.lease();

      await world.answer(leased, 204, { attempts: [] });

      expect(listEventIds(await world.lease())).toEqual(['evt_1']);
    });
  });
});
