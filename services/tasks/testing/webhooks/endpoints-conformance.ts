import { beforeEach, expect, test } from '@jest/globals';
import type { WebhookStore } from '../../src/store/webhook-store.ts';
import {
  AT,
  FAILING,
  aRecord,
  aSecret,
  added,
  anEndpoint,
  attempted,
  deliveriesOf,
  dispatched,
  leased,
} from './opened-webhooks.ts';
import type { OpenWebhooks } from './opened-webhooks.ts';

/** Endpoints and their secrets. */
export function endpointsConformance(open: OpenWebhooks): void {
  let store: WebhookStore;
  let other: WebhookStore;
  beforeEach(async () => {
    ({ store, other } = await open());
  });
  const ids = async (limit = 100, after?: string): Promise<string[]> =>
    (await store.listEndpoints('acme', { limit, after })).map(({ id }) => id);
  const failed = async (): Promise<void> => {
    await dispatched(store, ['evt_1']);
    const [receiver] = await leased(store);
    await store.recordAttempts([
      aRecord(receiver!, [attempted(receiver!.deliveries[0]!.id, { status: 500, dueAt: AT + 9000 })], {
        health: FAILING,
      }),
    ]);
  };

  test('an endpoint is found with all that was written, by its owner only', async () => {
    const endpoint = await added(store, 'whe_1', { payload: 'full', eventTypes: ['job.failed', 'balance.low'] });

    expect(await other.findEndpoint('acme', 'whe_1')).toEqual(endpoint);
    expect(await store.findEndpoint('rival', 'whe_1')).toBeUndefined();
    expect(await store.findEndpoint('acme', 'whe_\0')).toBeUndefined();
  });

  test('an endpoint comes with its secret', async () => {
    await added(store, 'whe_1');

    expect(await store.findSecrets(['whe_1', 'whe_2'])).toEqual(new Map([['whe_1', aSecret('whe_1')]]));
  });

  test('endpoints are listed by account, the newest first, in pages', async () => {
    for (const id of ['whe_1', 'whe_2', 'whe_3']) await added(store, id);
    await added(store, 'whe_4', { accountId: 'rival' });

    expect(await ids()).toEqual(['whe_3', 'whe_2', 'whe_1']);
    expect(await ids(2)).toEqual(['whe_3', 'whe_2']);
    expect(await ids(2, 'whe_2')).toEqual(['whe_1']);
  });

  test('concurrent creates never pass the limit of endpoints of an account, and each removal makes room', async () => {
    const add = (by: WebhookStore, id: string): Promise<boolean> => by.addEndpoint(anEndpoint(id), aSecret(id), 20);
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, index) => add(index % 2 === 0 ? store : other, `whe_${index}`)),
    );

    expect(outcomes.filter(Boolean)).toHaveLength(20);
    expect(await ids()).toHaveLength(20);
    const refused = outcomes.indexOf(false);
    expect(await store.findSecrets([`whe_${refused}`])).toEqual(new Map());
    const [first] = await ids();
    expect(await store.removeEndpoint('acme', first!, AT)).toBe(true);
    expect([await add(store, 'whe_a'), await add(store, 'whe_b')]).toEqual([true, false]);
    expect(await store.addEndpoint(anEndpoint('whe_c', { accountId: 'rival' }), aSecret('whe_c'), 20)).toBe(true);
  });

  test.each([
    ['the name', { name: 'new' }],
    ['the URL', { url: 'https://new.example/' }],
    ['the types', { eventTypes: ['job.failed'] }],
    ['the payload', { payload: 'full' }],
  ] as const)('a change of %s leaves the rest as it is', async (_what, change) => {
    const endpoint = await added(store, 'whe_1');

    const changed = { ...endpoint, ...change, updatedAt: AT + 5 };
    expect(await store.updateEndpoint('acme', 'whe_1', { ...change, at: AT + 5 })).toEqual(changed);
    expect(await store.findEndpoint('acme', 'whe_1')).toEqual(changed);
  });

  test('the endpoint of another account is neither changed nor removed', async () => {
    const endpoint = await added(store, 'whe_1');

    expect(await store.updateEndpoint('rival', 'whe_1', { name: 'x', at: AT })).toBeUndefined();
    expect(await store.removeEndpoint('rival', 'whe_1', AT)).toBe(false);
    expect(await store.findEndpoint('acme', 'whe_1')).toEqual(endpoint);
  });

  test('disabling ends the pending deliveries as failed, and nothing is due any more', async () => {
    await added(store, 'whe_1');
    await dispatched(store, ['evt_1', 'evt_2']);

    const disabled = await store.updateEndpoint('acme', 'whe_1', { enabled: false, at: AT + 5 });

    expect(disabled?.disabled).toEqual({ at: AT + 5, reason: 'by_owner' });
    expect(await deliveriesOf(store, 'whe_1')).toEqual([
      expect.objectContaining({ state: 'failed', error: 'endpoint_disabled', dueAt: undefined, endedAt: AT + 5 }),
      expect.objectContaining({ state: 'failed', error: 'endpoint_disabled', dueAt: undefined, endedAt: AT + 5 }),
    ]);
    expect(await leased(store)).toEqual([]);
    expect(await store.countPendingDeliveries()).toEqual({ count: 0, oldestDueAt: undefined });
  });

  test('disabling again keeps the first reason and time', async () => {
    await added(store, 'whe_1', { disabled: { at: AT, reason: 'gone' } });

    const again = await store.updateEndpoint('acme', 'whe_1', { enabled: false, at: AT + 5 });

    expect(again?.disabled).toEqual({ at: AT, reason: 'gone' });
  });

  test('enabling forgets the failures, and what is pending is due at once', async () => {
    await added(store, 'whe_1');
    await failed();
    expect(await store.readHealth(['whe_1'])).toEqual(new Map([['whe_1', FAILING]]));

    const enabled = await store.updateEndpoint('acme', 'whe_1', { enabled: true, at: AT + 5 });

    expect(enabled?.disabled).toBeUndefined();
    expect((await store.readHealth(['whe_1'])).get('whe_1')).toMatchObject({
      failures: 0,
      failingSince: undefined,
      openUntil: undefined,
    });
    expect(await leased(store, { now: AT + 5 })).toHaveLength(1);
  });

  test('an endpoint that nothing was sent to has no health', async () => {
    await added(store, 'whe_1');

    expect(await store.readHealth(['whe_1'])).toEqual(new Map());
    expect(await store.readHealth([])).toEqual(new Map());
  });

  test('a removal takes the secret and the receiver along and ends the pending deliveries', async () => {
    await added(store, 'whe_1');
    await failed();

    expect(await store.removeEndpoint('acme', 'whe_1', AT + 5)).toBe(true);
    expect(await store.removeEndpoint('acme', 'whe_1', AT + 5)).toBe(false);

    expect(await store.findSecrets(['whe_1'])).toEqual(new Map());
    expect(await store.readHealth(['whe_1'])).toEqual(new Map());
    expect(await deliveriesOf(store, 'whe_1')).toEqual([
      expect.objectContaining({ state: 'failed', error: 'endpoint_removed', status: 500, url: '' }),
    ]);
  });

  test('a secret is added once, and each caller gets the stored one', async () => {
    const secrets = [aSecret('default:acme', { sealed: 'one' }), aSecret('default:acme', { sealed: 'two' })];

    const stored = await Promise.all([store.addSecret(secrets[0]!), other.addSecret(secrets[1]!)]);

    expect(stored[0]).toEqual(stored[1]);
    expect(secrets).toContainEqual(stored[0]);
  });

  test('a secret is replaced only while it is the one that is named', async () => {
    await store.addSecret(aSecret('default:acme', { sealed: 'one' }));
    const next = aSecret('default:acme', {
      sealed: 'two',
      hint: 'new',
      old: { sealed: 'one', until: AT + 10 },
      updatedAt: AT + 1,
    });

    expect(await store.replaceSecret(next, 'one')).toBe(true);
    expect(await store.replaceSecret({ ...next, sealed: 'three' }, 'one')).toBe(false);
    expect(await store.findSecrets(['default:acme'])).toEqual(new Map([['default:acme', next]]));
  });

  test('all secrets are listed in pages', async () => {
    for (const owner of ['whe_2', 'whe_1', 'whe_3']) await store.addSecret(aSecret(owner));

    expect((await store.listSecrets('', 2)).map(({ ownerId }) => ownerId)).toEqual(['whe_1', 'whe_2']);
    expect((await store.listSecrets('whe_2', 2)).map(({ ownerId }) => ownerId)).toEqual(['whe_3']);
  });
}
