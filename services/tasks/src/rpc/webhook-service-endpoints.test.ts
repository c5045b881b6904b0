import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import { Secret } from '@reelgate/platform/secret';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { signDelivery } from '@reelgate/platform/webhooks/sign';
import { WebhookDeliveryState, WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';
import { WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';
import { catchRefusalFields } from '@reelgate/platform/testing/refusals';
import { useWebhookWorlds } from '../../testing/webhooks/open-webhook-world.ts';
import type { WebhookWorld } from '../../testing/webhooks/open-webhook-world.ts';
import { endpointMethods } from './webhook-service.ts';

const openWorld = useWebhookWorlds();
const NOT_FOUND = { kind: 'not_found', reason: 'webhook_endpoint_not_found' };
const NEW = {
  accountId: 'acme',
  name: 'ends',
  url: 'https://hooks.example/ends',
  eventTypes: ['video.completed', 'video.failed'],
};

async function open(...options: Parameters<typeof openWorld>) {
  const world = await openWorld(...options);
  const client = directClient(WebhookService, partialService(WebhookService, endpointMethods(world.deps)), aCaller());
  return { world, client };
}

async function withEndpoint(changes: object = {}) {
  const { world, client } = await open();
  const { endpoint, secret } = await client.createWebhookEndpoint({ ...NEW, ...changes });
  return { world, client, secret, name: { accountId: 'acme', endpointId: endpoint!.id }, endpoint: endpoint! };
}

/** Deliveries of events that have ended, one for each receiver. */
async function someEvents({ deps, clock }: WebhookWorld, count: number, url?: string): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    await deps.webhooks.addEvent({
      id: deps.newId('evt'),
      accountId: 'acme',
      type: 'video.completed',
      subjectId: `task_${at}`,
      createdAt: clock.now(),
      url,
    });
  }
  await deps.webhooks.dispatch({ now: clock.now(), limit: 200 });
}

/** Ends every pending delivery as failed, as after its last attempt. */
async function failAll({ deps, clock }: WebhookWorld): Promise<void> {
  const now = clock.now();
  const receivers = await deps.webhooks.leaseReceivers({
    now,
    until: now + 60_000,
    lease: deps.newId('lease'),
    worker: 'gateway',
    limit: 64,
    perAccount: 32,
    originsPerAccount: 32,
    deliveries: 32,
    failuresMax: 5,
  });
  await deps.webhooks.recordAttempts(
    receivers.map(({ id, lease, deliveries, health }) => ({
      receiverId: id,
      lease,
      health: { ...health, failures: 1, failingSince: now, lastFailureAt: now },
      circuit: 0,
      hasRecovered: false,
      returned: true,
      at: now,
      attempts: deliveries.map((delivery) => ({
        deliveryId: delivery.id,
        state: 'failed' as const,
        attempt: {
          number: delivery.attempts + 1,
          at: now,
          durationMs: 12,
          status: 500,
          error: 'status',
          requestHeaders: { 'webhook-id': delivery.eventId },
          answerHead: 'no',
        },
      })),
    })),
  );
}

describe('CreateWebhookEndpoint', () => {
  test('returns the endpoint, and its secret this once', async () => {
    const { world, client, endpoint, secret, name } = await withEndpoint({ payload: WebhookPayload.FULL });

    expect(endpoint).toMatchObject({
      accountId: 'acme',
      name: 'ends',
      url: 'https://hooks.example/ends',
      eventTypes: ['video.completed', 'video.failed'],
      payload: WebhookPayload.FULL,
      disabledReason: '',
    });
    expect(endpoint.id).toMatch(/^whe_/);
    expect(endpoint.disabledAt).toBeUndefined();
    expect([endpoint.createdAt, endpoint.updatedAt].map((time) => timestampMs(time!))).toEqual([
      world.clock.now(),
      world.clock.now(),
    ]);
    expect(secret).toMatch(/^whsec_/);
    expect(endpoint.secretHint).toMatch(/^whsec_.{4}….{4}$/u);
    const read = await client.getWebhookEndpoint(name);
    expect(read.endpoint).toEqual(endpoint);
    expect(JSON.stringify(read, (_key, value: unknown) => (typeof value === 'bigint' ? '' : value))).not.toContain(
      secret,
    );
  });

  test('has a thin payload unless the request says otherwise, and each type once', async () => {
    const { endpoint } = await withEndpoint({ eventTypes: ['job.failed', 'job.failed'] });

    expect(endpoint).toMatchObject({ payload: WebhookPayload.THIN, eventTypes: ['job.failed'] });
  });

  test.each([
    ['a plain URL', { url: 'http://hooks.example' }, { reason: 'invalid_webhook_url', field: 'url' }],
    ['a private host', { url: 'https://10.0.0.1/hooks' }, { reason: 'invalid_webhook_url', field: 'url' }],
    [
      'an unknown type',
      { eventTypes: ['video.completed', 'response.completed'] },
      {
        reason: 'invalid_request',
        field: 'event_types',
        message:
          'must hold one or more of video.completed, video.failed, job.completed, job.failed, batch.completed, batch.failed, batch.expired, batch.cancelled, balance.low',
      },
    ],
    ['no type', { eventTypes: [] }, { reason: 'invalid_request', field: 'event_types' }],
    ['no name', { name: '' }, { reason: 'invalid_request', field: 'name' }],
  ])('with %s is refused', async (_what, changes, problem) => {
    const { client } = await open();

    expect(await catchRefusalFields(client.createWebhookEndpoint({ ...NEW, ...changes }))).toMatchObject({
      kind: 'invalid',
      ...problem,
    });
    expect((await client.listWebhookEndpoints({ accountId: 'acme' })).endpoints).toEqual([]);
  });

  test('may name a private receiver that the configuration allows', async () => {
    const { client } = await open({ allow: ['127.0.0.1:9000'] });

    const { endpoint } = await client.createWebhookEndpoint({ ...NEW, url: 'http://127.0.0.1:9000/hooks' });

    expect(endpoint?.url).toBe('http://127.0.0.1:9000/hooks');
  });

  test('refuses the twenty-first endpoint of an account, and takes it once one is deleted', async () => {
    const { client } = await open();
    const made = await Promise.all(Array.from({ length: 20 }, () => client.createWebhookEndpoint(NEW)));

    expect(await catchRefusalFields(client.createWebhookEndpoint(NEW))).toMatchObject({
      kind: 'unprocessable',
      reason: 'webhook_endpoint_limit',
      message: 'an account has at most 20 webhook endpoints; delete one first',
    });

    await client.createWebhookEndpoint({ ...NEW, accountId: 'rival' });
    await client.deleteWebhookEndpoint({ accountId: 'acme', endpointId: made[0]!.endpoint!.id });
    await client.createWebhookEndpoint(NEW);
  });
});

describe('ListWebhookEndpoints', () => {
  test('returns pages of the account, the newest first, without default', async () => {
    const { client } = await open();
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.unshift((await client.createWebhookEndpoint(NEW)).endpoint!.id);
    await client.createWebhookEndpoint({ ...NEW, accountId: 'rival' });
    await client.rotateWebhookSecret({ accountId: 'acme', endpointId: 'default' });

    const first = await client.listWebhookEndpoints({ accountId: 'acme', limit: 2 });
    const rest = await client.listWebhookEndpoints({ accountId: 'acme', limit: 2, after: ids[1]! });

    expect([first.endpoints.map(({ id }) => id), first.hasMore]).toEqual([ids.slice(0, 2), true]);
    expect([rest.endpoints.map(({ id }) => id), rest.hasMore]).toEqual([ids.slice(2), false]);
    expect(first.endpoints.every(({ secretHint }) => secretHint !== '')).toBe(true);
  });

  test('goes on after an endpoint that was deleted, and refuses what is no endpoint', async () => {
    const { client } = await open();
    const [older, newer] = [await client.createWebhookEndpoint(NEW), await client.createWebhookEndpoint(NEW)];
    await client.deleteWebhookEndpoint({ accountId: 'acme', endpointId: newer.endpoint!.id });

    const page = await client.listWebhookEndpoints({ accountId: 'acme', after: newer.endpoint!.id });

    expect(page.endpoints.map(({ id }) => id)).toEqual([older.endpoint!.id]);
    expect(await catchRefusalFields(client.listWebhookEndpoints({ accountId: 'acme', after: 'task_1' }))).toMatchObject(
      {
        reason: 'invalid_request',
        field: 'after',
      },
    );
  });
});

describe('UpdateWebhookEndpoint', () => {
  test.each([
    ['the name', { name: 'other' }],
    ['the URL', { url: 'https://other.example/hooks' }],
    ['the types', { eventTypes: ['balance.low'] }],
    ['the payload', { payload: WebhookPayload.FULL }],
  ])('changes %s, and nothing else', async (_what, changes) => {
    const { world, client, name, endpoint: before } = await withEndpoint();
    await world.clock.advance(5000);

    const { endpoint } = await client.updateWebhookEndpoint({ ...name, ...changes });

    expect(endpoint).toEqual({ ...before, ...changes, updatedAt: timestampFromMs(world.clock.now()) });
    expect((await client.getWebhookEndpoint(name)).endpoint).toEqual(endpoint);
  });

  test('that changes no value leaves the time of the last change', async () => {
    const { world, client, name, endpoint: before } = await withEndpoint();
    await world.clock.advance(5000);
    const eventTypes = ['video.failed', 'video.completed'];

    const same = { ...NEW, ...name, eventTypes, payload: WebhookPayload.THIN, disabled: false };

    expect((await client.updateWebhookEndpoint(same)).endpoint).toEqual(before);
    expect((await client.updateWebhookEndpoint(name)).endpoint).toEqual(before);
  });

  test('disables and enables', async () => {
    const { world, client, name } = await withEndpoint();

    const disabled = (await client.updateWebhookEndpoint({ ...name, disabled: true })).endpoint;
    expect(disabled).toMatchObject({ disabledReason: 'by_owner', disabledAt: timestampFromMs(world.clock.now()) });

    await world.clock.advance(5000);
    expect((await client.updateWebhookEndpoint({ ...name, disabled: true })).endpoint).toEqual(disabled);
    const enabled = (await client.updateWebhookEndpoint({ ...name, disabled: false })).endpoint;
    expect(enabled?.disabledReason).toBe('');
    expect(enabled?.disabledAt).toBeUndefined();
  });

  test.each([
    ['another URL', { url: 'https://other.example' }, ''],
    ['the same URL', { url: NEW.url }, 'by_owner'],
    ['another URL that is to stay disabled', { url: 'https://other.example', disabled: true }, 'by_owner'],
    ['another name', { name: 'other' }, 'by_owner'],
  ])('of a disabled endpoint with %s leaves the reason %j%s', async (_what, changes, reason) => {
    const { client, name } = await withEndpoint();
    await client.updateWebhookEndpoint({ ...name, disabled: true });

    expect((await client.updateWebhookEndpoint({ ...name, ...changes })).endpoint?.disabledReason).toBe(reason);
  });

  test('with another URL forgets that the endpoint fails', async () => {
    const { world, client, name } = await withEndpoint();
    await someEvents(world, 1);
    await failAll(world);
    expect((await client.getWebhookEndpoint(name)).endpoint?.failingSince).toBeDefined();

    await client.updateWebhookEndpoint({ ...name, url: 'https://other.example' });

    expect((await client.getWebhookEndpoint(name)).endpoint?.failingSince).toBeUndefined();
  });

  test.each([
    ['an empty name', { name: '' }, { reason: 'invalid_request', field: 'name' }],
    ['a wrong URL', { url: 'https://hooks' }, { reason: 'invalid_webhook_url', field: 'url' }],
    ['an unknown type', { eventTypes: ['video.deleted'] }, { reason: 'invalid_request', field: 'event_types' }],
  ])('with %s is refused', async (_what, changes, problem) => {
    const { client, name } = await withEndpoint();

    expect(await catchRefusalFields(client.updateWebhookEndpoint({ ...name, ...changes }))).toMatchObject(problem);
  });
});

test('DeleteWebhookEndpoint removes the endpoint with its secret', async () => {
  const { world, client, name } = await withEndpoint();

  await client.deleteWebhookEndpoint(name);

  expect(await catchRefusalFields(client.getWebhookEndpoint(name))).toMatchObject(NOT_FOUND);
  expect(await catchRefusalFields(client.deleteWebhookEndpoint(name))).toMatchObject(NOT_FOUND);
  expect(await world.sql.read('SELECT * FROM webhook_secrets')).toEqual([]);
});

describe('default', () => {
  test('is read before its secret is made, and its rotation makes it', async () => {
    const { client } = await open();
    const name = { accountId: 'acme', endpointId: 'default' };
    const before = (await client.getWebhookEndpoint(name)).endpoint;
    expect(before).toMatchObject({ id: 'default', url: '', eventTypes: [], secretHint: '' });
    expect(before?.createdAt).toBeUndefined();

    const { secret, endpoint } = await client.rotateWebhookSecret(name);

    expect(endpoint?.secretHint.slice(-4)).toBe(secret.slice(-4));
    expect((await client.getWebhookEndpoint(name)).endpoint).toEqual(endpoint);
  });

  test('is not changed, tested or deleted', async () => {
    const { client } = await open();
    const name = { accountId: 'acme', endpointId: 'default' };
    await client.rotateWebhookSecret(name);

    for (const call of [
      () => client.updateWebhookEndpoint({ ...name, name: 'other' }),
      () => client.deleteWebhookEndpoint(name),
      () => client.testWebhookEndpoint({ ...name, eventType: 'video.completed' }),
    ])
      expect(await catchRefusalFields(call())).toMatchObject(NOT_FOUND);
  });
});

describe('TestWebhookEndpoint', () => {
  test.each([
    ['video.completed', { id: expect.stringMatching(/^task_/) }],
    ['job.failed', { id: expect.stringMatching(/^job_/) }],
    ['balance.low', { id: 'acme', currency: 'USD', available: '1.23', last_credit: '20.00' }],
  ])('sends a signed sample of %s, and returns the status', async (eventType, data) => {
    const { world, client, name, secret } = await withEndpoint();
    world.answer = { status: 503 };

    const { statusCode } = await client.testWebhookEndpoint({ ...name, eventType });

    expect(statusCode).toBe(503);
    const [sent] = world.sent;
    const seconds = Math.floor(world.clock.now() / 1000);
    expect(JSON.parse(sent!.body)).toEqual({
      object: 'event',
      id: expect.stringMatching(/^evt_/),
      type: eventType,
      created_at: seconds,
      data,
    });
    const { id } = JSON.parse(sent!.body) as { readonly id: string };
    expect(sent).toMatchObject({ accountId: 'acme', url: NEW.url });
    expect(sent!.headers).toEqual({
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': signDelivery([new Secret(secret)], { id, timestamp: seconds, body: sent!.body }),
    });
  });

  test('sends a new id each time, stores nothing, and reaches a disabled endpoint', async () => {
    const { world, client, name } = await withEndpoint();
    await client.updateWebhookEndpoint({ ...name, disabled: true });

    for (let count = 0; count < 2; count += 1) await client.testWebhookEndpoint({ ...name, eventType: 'video.failed' });

    expect(new Set(world.sent.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
    for (const table of ['events', 'webhook_deliveries', 'webhook_attempts'])
      expect(await world.sql.read(`SELECT * FROM ${table}`)).toEqual([]);
  });

  test.each([
    ['address_refused', 'the host of the URL has no public address'],
    ['not_reached', 'the receiver could not be reached; check the host of the URL and its port'],
    ['tls', 'the receiver refused the TLS handshake, or its certificate is not valid'],
    ['timeout', 'the receiver gave no answer within 15 s'],
    ['too_large', 'the answer of the receiver is larger than 64 KiB'],
    ['redirect', 'the receiver answered with a redirect, which is not followed; use the URL that it leads to'],
    ['a new fault', 'the receiver could not be reached'],
  ])('is refused for the fault %s', async (fault, message) => {
    const { world, client, name } = await withEndpoint();
    world.answer = { fault };

    expect(await catchRefusalFields(client.testWebhookEndpoint({ ...name, eventType: 'job.completed' }))).toEqual({
      kind: 'unprocessable',
      reason: 'webhook_not_reached',
      field: undefined,
      message,
      retryAfterMs: undefined,
    });
  });

  test('can be repeated if the sender is busy', async () => {
    const { world, client, name } = await withEndpoint();
    world.answer = { fault: 'busy' };

    expect(await catchRefusalFields(client.testWebhookEndpoint({ ...name, eventType: 'job.completed' }))).toMatchObject(
      {
        kind: 'unavailable',
        reason: 'service_unavailable',
        retryAfterMs: 5000,
      },
    );
  });

  test('refuses an unknown type', async () => {
    const { world, client, name } = await withEndpoint();

    expect(await catchRefusalFields(client.testWebhookEndpoint({ ...name, eventType: 'video.deleted' }))).toMatchObject(
      {
        reason: 'invalid_request',
        field: 'event_type',
        message:
          'must be one of video.completed, video.failed, job.completed, job.failed, batch.completed, batch.failed, batch.expired, batch.cancelled, balance.low',
      },
    );
    expect(world.sent).toEqual([]);
  });
});

describe('deliveries', () => {
  test('are listed by endpoint, the newest first, page by page and by state', async () => {
    const { world, client, name } = await withEndpoint();
    await someEvents(world, 1);
    await failAll(world);
    await someEvents(world, 2, 'https://hooks.example/one');

    const all = await client.listWebhookDeliveries(name);
    const page = await client.listWebhookDeliveries({ ...name, limit: 1 });
    const rest = await client.listWebhookDeliveries({ ...name, after: page.deliveries[0]!.id });
    const failed = await client.listWebhookDeliveries({ ...name, state: WebhookDeliveryState.FAILED });
    const ofRequests = await client.listWebhookDeliveries({ accountId: 'acme', endpointId: 'default' });

    expect(all.deliveries).toHaveLength(3);
    expect([page.deliveries.length, page.hasMore]).toEqual([1, true]);
    expect([...page.deliveries, ...rest.deliveries]).toEqual(all.deliveries);
    expect(failed.deliveries).toMatchObject([{ subjectId: 'task_0', attempts: [], attemptCount: 1 }]);
    expect(ofRequests.deliveries.map(({ url, endpointId }) => [url, endpointId])).toEqual([
      ['https://hooks.example/one', 'default'],
      ['https://hooks.example/one', 'default'],
    ]);
  });

  test('are shown with their attempts', async () => {
    const { world, client, name } = await withEndpoint();
    await someEvents(world, 1);
    await failAll(world);
    const [listed] = (await client.listWebhookDeliveries(name)).deliveries;

    const { delivery } = await client.getWebhookDelivery({ accountId: 'acme', deliveryId: listed!.id });

    expect(delivery).toMatchObject({
      id: listed!.id,
      endpointId: name.endpointId,
      url: NEW.url,
      eventType: 'video.completed',
      state: WebhookDeliveryState.FAILED,
      lastStatusCode: 500,
      lastError: 'status',
      attempts: [
        {
          number: 1,
          durationMs: 12n,
          statusCode: 500,
          error: 'status',
          answerHead: 'no',
          requestHeaders: { 'webhook-id': listed!.eventId },
        },
      ],
    });
    expect(delivery?.nextAttemptAt).toBeUndefined();
    expect(timestampMs(delivery!.endedAt!)).toBe(world.clock.now());
  });

  test('are due again when they are resent, with the attempts before', async () => {
    const { world, client, name } = await withEndpoint();
    await someEvents(world, 1);
    await failAll(world);
    await world.clock.advance(5000);
    const [failed] = (await client.listWebhookDeliveries(name)).deliveries;

    const { delivery } = await client.resendWebhookDelivery({ accountId: 'acme', deliveryId: failed!.id });

    expect(delivery).toMatchObject({ state: WebhookDeliveryState.PENDING, attemptCount: 1, eventId: failed!.eventId });
    expect(delivery?.attempts).toHaveLength(1);
    expect(timestampMs(delivery!.nextAttemptAt!)).toBe(world.clock.now());
    expect(world.told).toEqual(['dispatched']);
  });

  test('that failed since a time are due again together', async () => {
    const { world, client, name } = await withEndpoint();
    await someEvents(world, 1);
    await failAll(world);
    await world.clock.advance(5000);
    const since = timestampFromMs(world.clock.now());
    await someEvents(world, 2);
    await failAll(world);

    expect((await client.resendFailedWebhookDeliveries({ ...name, since })).resent).toBe(2);
    expect((await client.resendFailedWebhookDeliveries({ ...name, since })).resent).toBe(0);
    expect(world.told).toEqual(['dispatched']);
  });

  test('of a disabled endpoint are not resent', async () => {
    const { world, client, name } = await withEndpoint();
    await someEvents(world, 1);
    await failAll(world);
    const [failed] = (await client.listWebhookDeliveries(name)).deliveries;
    await client.updateWebhookEndpoint({ ...name, disabled: true });

    for (const call of [
      () => client.resendWebhookDelivery({ accountId: 'acme', deliveryId: failed!.id }),
      () => client.resendFailedWebhookDeliveries({ ...name, since: timestampFromMs(0) }),
    ])
      expect(await catchRefusalFields(call())).toMatchObject({
        kind: 'conflict',
        reason: 'webhook_endpoint_disabled',
        message: 'the webhook endpoint is disabled; enable it first',
      });
  });
});

describe('for another account', () => {
  test('an endpoint does not exist', async () => {
    const { client, name } = await withEndpoint();
    const foreign = { ...name, accountId: 'rival' };

    for (const call of [
      () => client.getWebhookEndpoint(foreign),
      () => client.updateWebhookEndpoint({ ...foreign, name: 'mine' }),
      () => client.deleteWebhookEndpoint(foreign),
      () => client.rotateWebhookSecret(foreign),
      () => client.testWebhookEndpoint({ ...foreign, eventType: 'video.completed' }),
      () => client.listWebhookDeliveries(foreign),
      () => client.resendFailedWebhookDeliveries({ ...foreign, since: timestampFromMs(0) }),
    ])
      expect(await catchRefusalFields(call())).toMatchObject(NOT_FOUND);
    expect((await client.getWebhookEndpoint(name)).endpoint?.name).toBe('ends');
  });

  test('the list of deliveries about a task is empty', async () => {
    const { world, client } = await withEndpoint();
    await someEvents(world, 1);
    const about = async (accountId: string, subjectId: string) =>
      (await client.listTaskWebhookDeliveries({ accountId, subjectId })).deliveries.map((one) => one.subjectId);

    expect(await about('acme', 'task_0')).toEqual(['task_0']);
    expect([await about('rival', 'task_0'), await about('acme', 'task_none')]).toEqual([[], []]);
  });

  test('a delivery does not exist', async () => {
    const { world, client, name } = await withEndpoint();
    await someEvents(world, 1);
    const [delivery] = (await client.listWebhookDeliveries(name)).deliveries;
    const foreign = { accountId: 'rival', deliveryId: delivery!.id };

    for (const call of [() => client.getWebhookDelivery(foreign), () => client.resendWebhookDelivery(foreign)])
      expect(await catchRefusalFields(call())).toMatchObject({
        kind: 'not_found',
        reason: 'webhook_delivery_not_found',
      });
    expect(
      await catchRefusalFields(
        client.listWebhookDeliveries({ accountId: 'rival', endpointId: 'default', after: delivery!.id }),
      ),
    ).toMatchObject({ reason: 'invalid_request', field: 'after' });
  });
});
