import { describe, expect, test } from '@jest/globals';
import { REST_MAX_MS } from '@reelgate/platform/lifecycle/worker';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';
import { describeOnEngines } from '../../../testing/store/describe-on-engines.ts';
import { listEventIds, openDeliveryWorld } from '../../../testing/webhooks/open-delivery-world.ts';
import type { DeliveryWorld } from '../../../testing/webhooks/open-delivery-world.ts';
import { anOrder } from '../../../testing/orders.ts';
import { completed } from '../../../testing/store/opened-store.ts';
import { endLeases } from '../recovery/end-leases.ts';
import { leaseReceivers, renewReceivers } from './lease-receivers.ts';

/** How long a receiver waits for a worker that is gone. */
const LEASE_MS = 10_000;
const CARRIER = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const numbered = (count: number, prefix: string): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}_${String(index).padStart(3, '0')}`);

/** Events of requests that carry a URL, each with an origin of its own. */
async function happenAtOrigins(world: DeliveryWorld, count: number, accountId: string): Promise<void> {
  const ids = numbered(count, `evt_${accountId}`);
  await world.happen(...ids.map((id) => ({ id, accountId, url: `https://${id.replaceAll('_', '-')}.example/hook` })));
}

describeOnEngines('a lease of receivers', (open) => {
  test('brings a worker all that it needs to send a delivery', async () => {
    const world = await openDeliveryWorld(open());
    await world.addEndpoint('whe_1');
    await world.happen({ id: 'evt_1', subjectId: 'task_7' });
    await world.dispatch();

    const [receiver] = await world.lease();

    expect(receiver).toMatchObject({
      receiverId: 'whe_1',
      accountId: 'acme',
      payload: WebhookPayload.THIN,
      secrets: [expect.stringMatching(/^whsec_/)],
      deliveries: [
        {
          attempt: 1,
          url: 'https://whe-1.example/hook?token=secret-word',
          event: { id: 'evt_1', type: 'video.completed', subjectId: 'task_7', subject: { case: undefined } },
        },
      ],
    });
  });

  test('says what a delivery goes on from: the trace of its work, or for old work a link to it', async () => {
    const world = await openDeliveryWorld(open());
    await world.addEndpoint('whe_1');
    const [trace, requestId, createdAt] = [CARRIER, 'req-1', world.clock.now()];
    await world.happen(
      { id: 'evt_1', origin: { trace, requestId, createdAt } },
      { id: 'evt_2', origin: { trace, createdAt: createdAt - 30 * 60_000 - 1 } },
      { id: 'evt_3', origin: { requestId, createdAt } },
      { id: 'evt_4' },
    );
    await world.dispatch();

    const [receiver] = await world.lease();

    expect(
      receiver!.deliveries.map(({ event, ...delivery }) => [
        event?.id,
        delivery.requestId,
        delivery.trace,
        delivery.linkedTrace,
      ]),
    ).toEqual([
      ['evt_1', 'req-1', CARRIER, ''],
      ['evt_2', '', '', CARRIER],
      ['evt_3', 'req-1', '', ''],
      ['evt_4', '', '', ''],
    ]);
  });

  test('that ends is taken again, with the same events, and the numbers of the attempts go on', async () => {
    const world = await openDeliveryWorld(open());
    await world.addEndpoint('whe_1');
    await world.happen({ id: 'evt_1' }, { id: 'evt_2' });
    await world.dispatch();
    const [first] = await world.lease();
    // The worker dies after it has recorded one of the two.
    const [recorded, unrecorded] = first!.deliveries;
    await world.answer([{ ...first!, deliveries: [recorded!] }], 500, { returned: false });
    expect(await world.lease()).toEqual([]);
    await world.clock.advance(LEASE_MS);

    const [again] = await world.lease();

    expect(again!.lease).not.toBe(first!.lease);
    expect(again!.deliveries.map(({ deliveryId, attempt }) => [deliveryId, attempt]).toSorted()).toEqual(
      [
        [recorded!.deliveryId, 2],
        [unrecorded!.deliveryId, 1],
      ].toSorted(),
    );
    expect(listEventIds([again!])).toEqual(['evt_1', 'evt_2']);
  });

  test('that has ended records nothing', async () => {
    const world = await openDeliveryWorld(open());
    await world.addEndpoint('whe_1');
    await world.happen({ id: 'evt_1' });
    await world.dispatch();
    const late = await world.lease();
    await world.clock.advance(LEASE_MS);
    const now = await world.lease();

    expect(await world.answer(late, 204)).toEqual(['whe_1']);
    expect(await world.answer(now, 204)).toEqual([]);
    expect(world.told).toEqual(['dispatched', 'delivered']);
  });

  describe('of a process that was killed', () => {
    test('ends within seconds, and another process has the receiver', async () => {
      const world = await openDeliveryWorld(open());
      await world.addEndpoint('whe_1');
      await world.happen({ id: 'evt_1' });
      await world.dispatch();
      const [dead] = await world.lease();
      await world.clock.advance(LEASE_MS - 1);
      expect(await world.lease()).toEqual([]);
      await world.clock.advance(1);

      const [receiver] = await world.lease();

      expect(listEventIds([receiver!])).toEqual(['evt_1']);
      expect(await world.answer([dead!], 204)).toEqual(['whe_1']);
      expect(await world.answer([receiver!], 204)).toEqual([]);
    });

    test('ends at the start of the process that has the database and all workers', async () => {
      const world = await openDeliveryWorld(open());
      await world.addEndpoint('whe_1');
      await world.happen({ id: 'evt_1' });
      await world.dispatch();
      const [dead] = await world.lease();

      await endLeases({ ...world.deps, jobs: { endLeases: async () => 0 }, batches: { endLeases: async () => 0 } });

      const [receiver] = await world.lease();
      expect(listEventIds([receiver!])).toEqual(['evt_1']);
      expect(await world.answer([dead!], 204)).toEqual(['whe_1']);
    });
  });

  test('is renewed by a living worker, and lasts as long as it works', async () => {
    const world = await openDeliveryWorld(open());
    await world.addEndpoint('whe_1');
    await world.happen({ id: 'evt_1' });
    await world.dispatch();
    const [receiver] = await world.lease();
    for (let round = 0; round < 5; round += 1) {
      await world.clock.advance(LEASE_MS / 2);
      expect((await renewReceivers(world.deps, [receiver!])).lost).toEqual([]);
      expect(await world.lease()).toEqual([]);
    }

    expect(await world.answer([receiver!], 204)).toEqual([]);
  });

  test('that no other worker has taken still records after its end, because the store was away', async () => {
    const world = await openDeliveryWorld(open());
    await world.addEndpoint('whe_1');
    await world.happen({ id: 'evt_1' });
    await world.dispatch();
    const late = await world.lease();
    await world.clock.advance(3 * LEASE_MS);

    expect(await world.answer(late, 204)).toEqual([]);
    expect(await world.lease()).toEqual([]);
  });

  test('that is held lets other workers rest until its end', async () => {
    const world = await openDeliveryWorld(open());
    expect(await leaseReceivers(world.deps, 'gateway_1', 1)).toMatchObject({ receivers: [], restMs: REST_MAX_MS });
    await world.addEndpoint('whe_1');
    await world.happen({ id: 'evt_1' });
    await world.dispatch();
    expect(await leaseReceivers(world.deps, 'gateway_1', 1)).toMatchObject({ receivers: [{}], restMs: 0 });
    await world.clock.advance(LEASE_MS - 1000);

    expect(await leaseReceivers(world.deps, 'gateway_2', 1)).toMatchObject({ receivers: [], restMs: 1000 });
  });

  test('of a receiver that hangs delays no other receiver', async () => {
    const world = await openDeliveryWorld(open());
    await world.addEndpoint('whe_hangs');
    await world.happen({ id: 'evt_1' });
    await world.dispatch();
    await world.lease();
    await world.addEndpoint('whe_other');
    await world.happen({ id: 'evt_2' }, { id: 'evt_3' });
    await world.dispatch();

    const leased = await world.lease();

    expect(leased.map(({ receiverId }) => receiverId)).toEqual(['whe_other']);
    expect(listEventIds(leased)).toEqual(['evt_2', 'evt_3']);
  });

  test('takes at most 16 origins of one account, and leaves the workers to the others', async () => {
    const world = await openDeliveryWorld(open());
    await happenAtOrigins(world, 50, 'hog');
    await world.dispatch();
    await world.clock.advance(1000);
    await happenAtOrigins(world, 2, 'small');
    await world.dispatch();

    const leased = [...(await world.lease()), ...(await world.lease())];

    const owners = Map.groupBy(leased, ({ accountId }) => accountId);
    expect([owners.get('hog')?.length, owners.get('small')?.length]).toEqual([16, 2]);
    await world.answer(leased, 200);
    expect((await world.lease()).map(({ accountId }) => accountId)).toEqual(Array.from({ length: 16 }, () => 'hog'));
  });

  test('of a receiver whose circuit is half open brings one delivery', async () => {
    const world = await openDeliveryWorld(open());
    await world.addEndpoint('whe_1');
    await world.happen(...numbered(8, 'evt').map((id) => ({ id })));
    await world.dispatch();
    const [receiver] = await world.lease();
    await world.answer([{ ...receiver!, deliveries: receiver!.deliveries.slice(0, 5) }], 503);
    expect(await world.lease()).toEqual([]);
    await world.clock.advance(5000);

    const trial = await world.lease();
    expect(trial.map(({ deliveries }) => deliveries.length)).toEqual([1]);
    await world.answer(trial, 200);

    expect((await world.lease()).map(({ deliveries }) => deliveries.length)).toEqual([7]);
  });
});

describeOnEngines('a full payload', (open) => {
  test('has the task as it is when the delivery is sent', async () => {
    const world = await openDeliveryWorld(open());
    await world.addEndpoint('whe_full', { payload: 'full' });
    await world.addEndpoint('whe_thin');
    await completed(world.tasks, 'task_1');
    await world.dispatch();

    const leased = new Map((await world.lease()).map((receiver) => [receiver.receiverId, receiver.deliveries]));

    expect(leased.get('whe_full')).toMatchObject([
      { event: { subject: { case: 'task', value: { id: 'task_1', state: TaskState.COMPLETED } } } },
    ]);
    expect(leased.get('whe_thin')).toMatchObject([{ event: { subjectId: 'task_1', subject: { case: undefined } } }]);
  });

  test.each([
    ['is not kept', 'task_unknown'],
    ['belongs to another account', 'task_of_rival'],
  ])('has no task that %s', async (_what, subjectId) => {
    const world = await openDeliveryWorld(open());
    await completed(world.tasks, 'task_of_rival', { accountId: 'rival' });
    await world.addEndpoint('whe_full', { payload: 'full' });
    await world.happen({ id: 'evt_1', subjectId });
    await world.dispatch();

    const [receiver] = await world.lease();

    expect(receiver!.deliveries.map(({ event }) => event?.subject.case)).toEqual([undefined]);
  });

  test('that has no room in the answer follows under the next lease', async () => {
    const world = await openDeliveryWorld(open());
    await world.addEndpoint('whe_full', { payload: 'full' });
    const order = anOrder({ content: [{ text: 'x'.repeat(1024 * 1024) }] });
    for (const id of numbered(8, 'task')) await completed(world.tasks, id, { order });
    await world.dispatch();

    const first = await world.lease();
    await world.answer(first, 200);
    const second = await world.lease();

    expect(first[0]!.deliveries.length).toBeLessThan(6);
    expect(
      [...first, ...second].flatMap(({ deliveries }) => deliveries.map(({ event }) => event!.subjectId)).toSorted(),
    ).toEqual(numbered(8, 'task'));
  });
});
