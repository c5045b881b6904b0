import { expect, test } from '@jest/globals';
import { describeOnEngines } from '../../../testing/store/describe-on-engines.ts';
import { openDeliveryWorld } from '../../../testing/webhooks/open-delivery-world.ts';

describeOnEngines('a dispatch', (open) => {
  test('announces that deliveries are due if an endpoint hears an event', async () => {
    const world = await openDeliveryWorld(open());
    await world.addEndpoint('whe_1');
    await world.happen({ id: 'evt_1' });
    await world.dispatch();

    expect(world.told).toEqual(['dispatched']);
  });

  test('announces that none is due if no endpoint hears its events', async () => {
    const world = await openDeliveryWorld(open());
    await world.addEndpoint('whe_1', { accountId: 'globex' });
    await world.happen({ id: 'evt_1' });
    await world.dispatch();

    expect(world.told).toEqual(['nothing due']);
  });

  test('announces nothing if no event is new', async () => {
    const world = await openDeliveryWorld(open());
    await world.dispatch();

    expect(world.told).toEqual([]);
  });
});
