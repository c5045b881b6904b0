import path from 'node:path';
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openOtlpSink } from '@reelgate/platform/testing/otlp-sink';
import type { OtlpSink } from '@reelgate/platform/testing/otlp-sink';
import type { ReceivedSpan } from '@reelgate/platform/testing/otlp-spans';
import { until } from '@reelgate/platform/testing/until';
import { httpCaller } from '../harness/client.ts';
import type { HttpCaller } from '../harness/client.ts';
import { aGeneration } from '../harness/orders.ts';
import { newProgram } from '../harness/program.ts';
import type { Program, Shape } from '../harness/program.ts';
import { showTask } from '../harness/records.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { startWebhookReceiver } from '../harness/webhook-receiver.ts';
import type { WebhookReceiver } from '../harness/webhook-receiver.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { CHANNEL, KEYS, SIGNING_KEY, UPSTREAM_KEY } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';

const TIMEOUT_MS = 120_000;
/** A settlement is confirmed three seconds after the end of its task. */
const SENT_MS = 60_000;
const CREATE = 'reelgate.tasks.v1.TaskService/CreateTask';
const SEND = 'reelgate.media.v1.MediaService/SendWebhook';
const PROMPT = 'planted-prompt';
const OUTPUT_KEPT = 4 * 1024 * 1024;
const IMAGE = readFileSync(path.join(import.meta.dirname, '../../services/media/testing/fixtures/image.png'));

let sink: OtlpSink;
let upstream: ScriptedUpstream;
let receiver: WebhookReceiver;

/** Hears of the ends of tasks at a URL whose path and query are its secret. */
const HOOK = '/planted-path-of-a-receiver?key=planted-query-of-a-receiver';

async function startTraced(shape: Shape, bus: string | undefined, sample: object): Promise<Program> {
  const program = await newProgram(
    shape,
    { upstream: upstream.host, bus, channel: { timeouts: { submit: '60s', poll: '10s' } } },
    (config) =>
      ({
        ...config,
        tracing: { endpoint: sink.endpoint, sample },
        webhooks: { allow: [receiver.host] },
      }) as unknown as TestConfig,
    { outputKept: OUTPUT_KEPT, environment: { REELGATE_LOG: 'info' } },
  );
  await program.start();
  return program;
}

/** Makes an endpoint that hears of ended tasks. Returns its id and its secret. */
async function addEndpoint(demo: HttpCaller): Promise<{ readonly id: string; readonly secret: string }> {
  const body = { name: 'a receiver', url: receiver.url(HOOK), event_types: ['video.completed'] };
  const { status, json } = await demo.call('POST', '/v1/webhook_endpoints', body);
  if (status >= 300) throw new Error(JSON.stringify(json));
  const { id, signing_secret: secret } = json as { id: string; signing_secret: string };
  return { id, secret };
}

/** The lines in the log about deliveries of a task. */
function deliveryLines(program: Program, taskId: string): readonly Readonly<Record<string, unknown>>[] {
  return program
    .output()
    .split('\n')
    .filter((line) => line.includes(taskId) && line.includes('"msg":"a webhook was delivered"'))
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

/** A generation with a picture to stage. */
function anOrder(words: string): object {
  const { content, ...rest } = aGeneration(`${PROMPT} ${words}`) as { readonly content: readonly object[] };
  const url = `data:image/png;base64,${IMAGE.toString('base64')}`;
  return { ...rest, content: [...content, { type: 'image_url', image_url: { url }, role: 'first_frame' }] };
}

/** The spans of the trace to which the span of the task belongs. */
function traceOf(taskId: string): readonly ReceivedSpan[] {
  const own = sink.spans.find(({ name, attributes }) => name === CREATE && attributes['reelgate.task.id'] === taskId);
  return sink.spans.filter(({ traceId }) => traceId === own?.traceId);
}

/** The spans of the task, once it is settled and all of them have arrived. */
async function wholeTrace(taskId: string): Promise<readonly ReceivedSpan[]> {
  const isWhole = (): boolean => {
    const names = new Set(traceOf(taskId).map(({ name }) => name));
    return ['task generation', 'settle', 'confirm settlement', 'POST /v2/video_generation'].every((one) =>
      names.has(one),
    );
  };
  await until(isWhole, SENT_MS).catch((error: unknown) => {
    throw new Error(`arrived: ${drawn(traceOf(taskId)).join('\n')}`, { cause: error });
  });
  return traceOf(taskId);
}

const parentOf = (spans: readonly ReceivedSpan[], { parentSpanId }: ReceivedSpan): ReceivedSpan | undefined =>
  spans.find(({ spanId }) => spanId === parentSpanId);

/** Each span as the names from the root to it, with the service that wrote it. */
function drawn(spans: readonly ReceivedSpan[]): string[] {
  const pathOf = (span: ReceivedSpan): string => {
    const parent = parentOf(spans, span);
    return `${parent === undefined ? '' : `${pathOf(parent)} > `}${span.name}`;
  };
  return [...new Set(spans.map(pathOf))].toSorted();
}

const roots = (spans: readonly ReceivedSpan[]): string[] =>
  spans.filter((span) => parentOf(spans, span) === undefined).map(({ name }) => name);
const named = (spans: readonly ReceivedSpan[], name: string): readonly ReceivedSpan[] =>
  spans.filter((span) => span.name === name);

beforeAll(async () => {
  sink = await openOtlpSink();
  upstream = await startScriptedUpstream();
  receiver = await startWebhookReceiver();
});
afterAll(async () => {
  await Promise.all([upstream?.stop(), receiver?.stop()]);
  await sink?.close();
});

describeWith(natsServer, 'the trace of a task over four processes', (bus) => {
  let program: Program;
  let demo: HttpCaller;
  /** Of receivers: what signs, and what was signed. */
  const secrets: string[] = [];
  beforeAll(async () => {
    program = await startTraced('four processes', bus(), {});
    demo = httpCaller(program.base, KEYS.demo);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await program?.end();
  }, TIMEOUT_MS);

  test(
    'goes from the request to the settlement, with one span of the task and no gap',
    async () => {
      const taskId = await demo.create('/v2/video_generation', anOrder('[mark:whole]'));
      await demo.finish(taskId);
      const spans = await wholeTrace(taskId);

      expect(roots(spans)).toEqual(['POST /v2/video_generation']);
      expect(named(spans, 'task generation')).toHaveLength(1);
      const below = (steps: readonly string[]): boolean =>
        drawn(spans).some((line) => {
          const found = line.split(' > ');
          return steps.every((step) => found.includes(step)) && found.at(-1) === steps.at(-1);
        });
      expect(
        [
          [CREATE, 'tasks begin'],
          [CREATE, 'reelgate.billing.v1.BillingService/PlaceHold'],
          [CREATE, 'stage media', 'reelgate.media.v1.MediaService/StageMedia', 'probe'],
          [CREATE, `submit ${CHANNEL}`],
          [CREATE, 'task generation'],
          ['task generation', `poll ${CHANNEL}`],
          ['task generation', 'store result', 'reelgate.media.v1.MediaService/IngestResult', 'fetch'],
          ['task generation', 'store result', 'reelgate.media.v1.MediaService/IngestResult', 'keep'],
          ['task generation', 'finish', 'send reelgate.tasks.v1.TaskFinished'],
          ['send reelgate.tasks.v1.TaskFinished', 'process reelgate.tasks.v1.TaskFinished', 'settle'],
          ['task generation', 'confirm settlement', 'reelgate.billing.v1.BillingService/SettleHold'],
        ].filter((steps) => !below(steps)),
      ).toEqual([]);
      const [own] = named(spans, 'task generation');
      const shown = await demo.call('GET', `/v2/query/video_generation/${taskId}`);
      expect(own!.endMs - own!.startMs).toBeGreaterThan(0);
      expect(own!.attributes).toMatchObject({
        'reelgate.task.id': taskId,
        'reelgate.account.id': 'demo',
        'reelgate.task.state': 'completed',
      });
      expect(shown.status).toBe(200);
      expect(new Set(spans.map(({ resource }) => resource['service.name'])).size).toBe(4);
    },
    TIMEOUT_MS,
  );

  test(
    'is one trace with one span of the task after the tasks process was killed in the middle of a poll',
    async () => {
      const taskId = await demo.create('/v2/video_generation', anOrder('[mark:killed] [gate] [poll:hang]'));
      // The spans of the create have been sent, and the first poll waits for its answer.
      await until(() => named(traceOf(taskId), CREATE).some(({ kind }) => kind === 'server'), SENT_MS);
      await until(() => upstream.works.some(({ mark, spoiled }) => mark === 'killed' && spoiled === 1));
      await program.killOne('tasks', 100);
      await program.ready();
      upstream.openGate();
      await demo.finish(taskId);
      const spans = await wholeTrace(taskId);

      expect(named(spans, 'task generation')).toHaveLength(1);
      expect(roots(spans)).toEqual(['POST /v2/video_generation']);
      const resumed = spans.filter(({ attributes }) => attributes['reelgate.resumed'] === true);
      expect(resumed.map(({ name }) => name)).toEqual([`poll ${CHANNEL}`]);
    },
    TIMEOUT_MS,
  );

  test(
    'has the deliveries of its event, those that are sent again too, and each has its line in the log',
    async () => {
      const endpoint = await addEndpoint(demo);
      const headers = { 'x-request-id': 'delivered-1' };
      const taskId = await demo.create('/v2/video_generation', anOrder('[mark:delivered]'), headers);
      await demo.finish(taskId);
      const deliveries = (): readonly ReceivedSpan[] => named(traceOf(taskId), 'deliver webhook');
      await until(() => deliveries().length === 1, SENT_MS);
      const { json } = await demo.call('GET', `/v1/webhook_endpoints/${endpoint.id}/deliveries`);
      const [{ id: deliveryId = '' } = {}] = (json as { data: readonly { id?: string }[] }).data;
      await demo.call('POST', `/v1/webhook_deliveries/${deliveryId}/resend`);
      await until(() => deliveries().length === 2 && deliveryLines(program, taskId).length === 2, SENT_MS);
      await wholeTrace(taskId);

      const spans = traceOf(taskId);
      const paths = drawn(spans).filter((line) => line.includes('deliver webhook'));
      const root = `POST /v2/video_generation > ${CREATE} > ${CREATE} > task generation > deliver webhook`;
      expect(paths).toEqual([root, `${root} > ${SEND}`, `${root} > ${SEND} > ${SEND}`]);
      const [request] = receiver.requests;
      const about = { 'reelgate.task.id': taskId, 'reelgate.event.id': request!.headers['webhook-id'] };
      expect(deliveries().map(({ attributes }) => attributes)).toMatchObject(
        [1, 2].map((attempt) => ({ ...about, 'reelgate.webhook.attempt': attempt, 'http.response.status_code': 204 })),
      );
      expect(deliveryLines(program, taskId)).toMatchObject(
        [1, 2].map((attempt) => ({
          ...{ service: 'gateway', requestId: 'delivered-1', attempt, status: 204, taskId, deliveryId },
          eventId: request!.headers['webhook-id'],
          trace_id: spans[0]!.traceId,
        })),
      );
      const shown = await showTask(program, taskId);
      expect(shown).toMatchObject({ requestId: 'delivered-1', traceId: spans[0]!.traceId });
      secrets.push(endpoint.secret, ...receiver.requests.map(({ headers: sent }) => sent['webhook-signature'] ?? ''));
    },
    TIMEOUT_MS,
  );

  test('holds no secret, signature, path or query of a receiver, and neither does the log', () => {
    const shown = JSON.stringify(sink.spans) + program.output();

    expect(secrets).toHaveLength(3);
    for (const secret of [...secrets, 'planted-path-of-a-receiver', 'planted-query-of-a-receiver'])
      expect([secret, shown.includes(secret)]).toEqual([secret, false]);
  });

  test('holds no prompt, key, address or id of an upstream', () => {
    const text = JSON.stringify(sink.spans);
    const ids = upstream.works.map(({ id }) => id);

    expect(ids.length).toBeGreaterThan(1);
    for (const secret of [PROMPT, KEYS.demo, UPSTREAM_KEY, SIGNING_KEY, upstream.host, 'link=', 'sig=', ...ids])
      expect([secret, text.includes(secret)]).toEqual([secret, false]);
  });
});

test(
  'a create that is not recorded stores no trace and sends no span, and its delivery has a line in the log',
  async () => {
    const program = await startTraced('one program', undefined, { creates: 0, calls: 0, reads: 0 });
    try {
      const demo = httpCaller(program.base, KEYS.demo);
      await addEndpoint(demo);
      const taskId = await demo.create('/v2/video_generation', anOrder('[mark:unrecorded]'));
      await demo.finish(taskId);
      await until(() => deliveryLines(program, taskId).length === 1, SENT_MS);
      const [line] = deliveryLines(program, taskId);
      await program.stop();

      const store = new DatabaseSync(path.join(program.config.data_dir, 'tasks.sqlite'), { readOnly: true });
      const rows = store.prepare('SELECT id, trace, trace_parent FROM tasks').all();
      store.close();
      expect(rows).toEqual([{ id: taskId, trace: null, trace_parent: null }]);
      expect(traceOf(taskId)).toEqual([]);
      expect(sink.spans.filter(({ attributes }) => attributes['reelgate.task.id'] === taskId)).toEqual([]);
      expect(line).toMatchObject({ taskId, eventId: expect.stringMatching(/^evt_/), attempt: 1, status: 204 });
      expect(line).not.toHaveProperty('trace_id');
    } finally {
      await program.end();
    }
  },
  TIMEOUT_MS,
);
