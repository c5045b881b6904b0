import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { newLocalBus } from '@reelgate/platform/bus/local-bus';
import type { Bus } from '@reelgate/platform/bus/bus';
import { systemClock } from '@reelgate/platform/clock';
import type { RunningService } from '@reelgate/platform/foundation';
import { newIds, systemRandom } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import type { Client } from '@reelgate/platform/rpc/service';
import { Secret, acceptOnly } from '@reelgate/platform/secret';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { until } from '@reelgate/platform/testing/until';
import { NO_TRACING } from '@reelgate/platform/trace/trace';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { WebhookDeliveryState, WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';
import type { LeasedWebhookReceiver, WatchEventsResponse } from '@reelgate/proto/tasks/v1/webhook_service';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { TaskChangedSchema, TaskFinishedSchema } from '@reelgate/proto/tasks/v1/task_events';
import type { TaskFinished } from '@reelgate/proto/tasks/v1/task_events';
import { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import { WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';
import { anOrder } from '../testing/orders.ts';
import { openScriptedUpstream } from './channels/adapter-contract/scripted-upstream.ts';
import type { ScriptedUpstream } from './channels/adapter-contract/scripted-upstream.ts';
import { startTasks } from './app.ts';
import type { TasksPeers } from './app.ts';
import type { TasksConfig } from './config.ts';
import { tasksConfig } from './config.ts';
import { toWireOrder } from './operations/reads/work-messages.ts';

const UPSTREAM_ID = '424010985738629';
const HOUR_MS = 3_600_000;
const PUBLIC_URL = 'https://gateway.example';
const MODELS = { 'Alpha-H3': { duration: [4, 15], resolutions: ['768P', '2K'], ratios: ['adaptive', '16:9'] } };

let dataDir = '';
let upstream: ScriptedUpstream;
let bus: Bus;
let running: RunningService[] = [];

beforeEach(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'reelgate-app-'));
  upstream = await openScriptedUpstream();
  bus = newLocalBus(systemClock, silentLog);
});
afterEach(async () => {
  for (const service of running.splice(0)) await service.stop();
  running = [];
  await bus.close();
  await upstream.close();
  rmSync(dataDir, { recursive: true });
});

const value = (channels: readonly object[] = [channel()]) => ({
  tasks: {
    in_flight: { per_token: 20, total: 1000 },
    poll: { first: '10ms', factor: 1, max: '10ms', soft_deadline: '30m', hard_deadline: '24h' },
    retention: '90d',
    queue: {
      enabled: false,
      per_account: 1000,
      total: 100_000,
      longest_wait: { interactive: '2m', standard: '1h', batch: '24h' },
    },
    jobs: { per_token: 100, total: 10_000, lease: '20s', deadline: '1h' },
    batch: { in_flight: 100, per_account: 100, lease: '20s', retention: '30d' },
  },
  webhooks: { allow: [], retention: '30d', endpoints_per_account: 20 },
  models: MODELS,
  channels,
});

function channel(changes: object = {}): object {
  return {
    id: 'main',
    adapter: 'alpha-v2',
    base_url: upstream.url,
    api_key: 'key',
    upstream_account: 'vendor',
    endpoints: ['video.generation'],
    models: { 'Alpha-H3': 'MiniMax-H3' },
    priority: 0,
    weight: 1,
    enabled: true,
    limits: { requests_per_minute: 300, in_flight: 30, polls_per_minute: 6000 },
    timeouts: { submit: '60s', poll: '20s' },
    reconcile: 'list',
    ...changes,
  };
}

/** Billing and media that accept everything. */
const peers = {
  billing: new Proxy(
    {},
    {
      get: (_none, method) => async () =>
        method === 'getPrincipal' ? { principal: { accountId: 'acme', models: ['*'], makers: [] } } : {},
    },
  ),
  media: {
    ingestResult: async () => ({
      result: {
        object: 'res_1',
        mediaType: 'video/mp4',
        bytes: 9n,
        width: 1344,
        height: 768,
        durationMs: 5167n,
        frameRate: 24,
        expiresAt: timestampFromMs(4e12),
      },
    }),
  },
  bytes: { read: async () => Buffer.alloc(0) },
} as unknown as TasksPeers;

async function start(config: TasksConfig = tasksConfig(value(), PUBLIC_URL), haveWorkersHere = false) {
  const service = await startTasks(
    config,
    {
      clock: systemClock,
      random: systemRandom,
      newId: newIds(systemClock),
      log: silentLog,
      metrics: newMetrics(false),
      bus,
      signingKey: new Secret('key'),
      acceptedKeys: acceptOnly(new Secret('key')),
      tracing: NO_TRACING,
      publicUrl: PUBLIC_URL,
      dataDir,
    },
    { ...peers, haveWorkersHere },
  );
  running.push(service);
  const [tasks, operator, , webhooks] = service.bindings;
  return {
    service,
    webhooks: directClient(WebhookService, webhooks!, aCaller()),
    client: directClient(TaskService, tasks!, aCaller()),
    operator: directClient(OperatorService, operator!, aCaller()),
  };
}

const create = (client: Client<typeof TaskService>) =>
  client.createTask({ accountId: 'acme', tokenId: 'token_1', order: toWireOrder(anOrder()) });
const task = (status: string, more: object = {}) => ({
  status: 200,
  json: { task: { id: UPSTREAM_ID, status, ...more } },
});

describe('the service', () => {
  test('submits an order to its upstream, polls until it ends, and announces the end', async () => {
    const finished = Promise.withResolvers<TaskFinished>();
    const changes: TaskState[] = [];
    await bus.subscribe(TaskFinishedSchema, 'test', async (message) => finished.resolve(message));
    await bus.listen(TaskChangedSchema, ({ state }) => void changes.push(state));
    upstream.script(
      { status: 200, json: { task_id: UPSTREAM_ID } },
      task('queued'),
      task('running'),
      task('succeeded', { content: { url: 'https://cdn.example/1.mp4' }, usage: { total_seconds: 5 } }),
    );
    const { service, client } = await start();
    expect(await service.ready()).toBe(true);

    const { task: created } = await create(client);
    expect(created?.state).toBe(TaskState.QUEUED);

    expect(await finished.promise).toMatchObject({
      taskId: created!.id,
      accountId: 'acme',
      state: TaskState.COMPLETED,
      usage: { totalSeconds: 5n },
      channel: 'main',
    });
    // the two announcements of an end are on subjects of their own, so either can come first
    await until(() => changes.includes(TaskState.COMPLETED));
    expect(changes).toEqual([TaskState.QUEUED, TaskState.IN_PROGRESS, TaskState.COMPLETED]);
    expect((await client.getTask({ accountId: 'acme', taskId: created!.id })).task).toMatchObject({
      state: TaskState.COMPLETED,
      result: { object: 'res_1' },
    });
    expect(upstream.requests.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'GET']);
  });

  test('keeps its tasks and their upstream ids over a restart', async () => {
    upstream.script({ status: 200, json: { task_id: UPSTREAM_ID } });
    const rarely = { ...tasksConfig(value(), PUBLIC_URL), pollPlan: { firstMs: HOUR_MS, factor: 1, maxMs: HOUR_MS } };
    const { service, client } = await start(rarely);
    const { id } = (await create(client)).task!;
    await service.stop();

    const again = await start(rarely);
    expect((await again.client.getTask({ accountId: 'acme', taskId: id })).task?.state).toBe(TaskState.QUEUED);
    expect((await again.operator.showTask({ taskId: id })).record?.attempts).toMatchObject([
      { upstreamId: UPSTREAM_ID, outcome: 'accepted' },
    ]);

    upstream.script(task('queued'), { status: 200, json: { action: 'cancelled' } });
    expect((await again.client.cancelTask({ accountId: 'acme', taskId: id })).task?.failure?.code).toBe('cancelled');
    expect(upstream.requests).toMatchObject([
      { method: 'GET' },
      { method: 'DELETE', path: `/v2/video_generation/${UPSTREAM_ID}` },
    ]);
  });

  test('tells an endpoint and a stream of the end of a task', async () => {
    const { client, webhooks } = await start();
    const { secret } = await webhooks.createWebhookEndpoint({
      accountId: 'acme',
      name: 'ends',
      url: 'https://hooks.example/ends',
      eventTypes: ['video.completed'],
      payload: WebhookPayload.FULL,
    });
    const stream = webhooks.watchEvents({ accountId: 'acme', withSubject: true })[Symbol.asyncIterator]();
    expect((await stream.next()).value).toMatchObject({ cursor: 'evt_0' });
    upstream.script(
      { status: 200, json: { task_id: UPSTREAM_ID } },
      task('succeeded', { content: { url: 'https://cdn.example/1.mp4' }, usage: { total_seconds: 5 } }),
    );
    const { task: created } = await create(client);

    const { event, cursor } = (await stream.next()).value as WatchEventsResponse;
    await stream.return?.();
    expect(event).toMatchObject({ type: 'video.completed', subjectId: created!.id });
    expect(event?.subject.value).toMatchObject({ state: TaskState.COMPLETED });
    expect(cursor).toBe(event!.id);

    const { receivers } = await webhooks.leaseWebhookReceivers({ limit: 64, worker: 'gateway_1' });
    expect(receivers).toMatchObject([
      {
        accountId: 'acme',
        payload: WebhookPayload.FULL,
        secrets: [secret],
        deliveries: [{ attempt: 1, url: 'https://hooks.example/ends', event: { id: event!.id } }],
      },
    ]);
    const [{ receiverId, lease, deliveries }] = receivers as [LeasedWebhookReceiver];
    const attempt = { number: 1, at: timestampFromMs(1_767_225_600_000), durationMs: 40n, statusCode: 204 };
    const record = {
      receiverId,
      lease,
      returned: true,
      attempts: [{ deliveryId: deliveries[0]!.deliveryId, attempt }],
    };
    expect(await webhooks.recordWebhookAttempts({ records: [record] })).toMatchObject({ lostReceiverIds: [] });
    expect(await webhooks.recordWebhookAttempts({ records: [record] })).toMatchObject({
      lostReceiverIds: [receiverId],
    });
    const { delivery } = await webhooks.getWebhookDelivery({
      accountId: 'acme',
      deliveryId: deliveries[0]!.deliveryId,
    });
    expect(delivery).toMatchObject({ state: WebhookDeliveryState.DELIVERED, attempts: [{ statusCode: 204 }] });
  });

  test('that has all workers in its process takes up at its start what they leased before', async () => {
    const { service, client, webhooks } = await start();
    await webhooks.createWebhookEndpoint({
      accountId: 'acme',
      name: 'ends',
      url: 'https://hooks.example/ends',
      eventTypes: ['video.completed'],
    });
    const stream = webhooks.watchEvents({ accountId: 'acme' })[Symbol.asyncIterator]();
    await stream.next();
    upstream.script(
      { status: 200, json: { task_id: UPSTREAM_ID } },
      task('succeeded', { content: { url: 'https://cdn.example/1.mp4' }, usage: { total_seconds: 5 } }),
    );
    await create(client);
    await stream.next();
    await stream.return?.();
    // a lease of a minute: no test waits for its end
    const { receivers } = await webhooks.leaseWebhookReceivers({ limit: 64, worker: 'gateway_1' });
    await service.stop();

    const beside = await start();
    expect(await beside.webhooks.leaseWebhookReceivers({ limit: 64, worker: 'gateway_1' })).toMatchObject({
      receivers: [],
    });
    await beside.service.stop();
    const alone = await start(undefined, true);

    const [again] = (await alone.webhooks.leaseWebhookReceivers({ limit: 64, worker: 'gateway_1' })).receivers;
    expect(again?.receiverId).toBe(receivers[0]!.receiverId);
    expect(again?.deliveries).toEqual(receivers[0]!.deliveries);
  });

  test('applies new channels and models while it runs', async () => {
    const { service, client, operator } = await start(tasksConfig(value([channel({ enabled: false })]), PUBLIC_URL));
    await expect(create(client)).rejects.toMatchObject({ reason: 'model_not_found' });

    upstream.script(
      { status: 200, json: { task_id: UPSTREAM_ID } },
      ...Array.from({ length: 1000 }, () => task('running')),
    );
    await service.reload(value([channel({ id: 'other' })]));

    await create(client);
    expect((await operator.listChannels({})).channels).toMatchObject([{ id: 'other', inFlight: 1 }]);
  });

  test('can be stopped twice', async () => {
    const { service } = await start();

    await service.stop();
    await service.stop();
  });
});
