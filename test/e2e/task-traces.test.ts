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
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { CHANNEL, KEYS, SIGNING_KEY, UPSTREAM_KEY } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';

const TIMEOUT_MS = 120_000;
/** A settlement is confirmed three seconds after the end of its task. */
const SENT_MS = 60_000;
const CREATE = 'reelgate.tasks.v1.TaskService/CreateTask';
const PROMPT = 'planted-prompt';
const IMAGE = readFileSync(path.join(import.meta.dirname, '../../services/media/testing/fixtures/image.png'));

let sink: OtlpSink;
let upstream: ScriptedUpstream;

async function startTraced(shape: Shape, bus: string | undefined, sample: object): Promise<Program> {
  const program = await newProgram(
    shape,
    { upstream: upstream.host, bus, channel: { timeouts: { submit: '60s', poll: '10s' } } },
    (config) => ({ ...config, tracing: { endpoint: sink.endpoint, sample } }),
  );
  await program.start();
  return program;
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
});
afterAll(async () => {
  await upstream?.stop();
  await sink?.close();
});

describeWith(natsServer, 'the trace of a task over four processes', (bus) => {
  let program: Program;
  let demo: HttpCaller;
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

  test('holds no prompt, key, address or id of an upstream', () => {
    const text = JSON.stringify(sink.spans);
    const ids = upstream.works.map(({ id }) => id);

    expect(ids.length).toBeGreaterThan(1);
    for (const secret of [PROMPT, KEYS.demo, UPSTREAM_KEY, SIGNING_KEY, upstream.host, 'link=', 'sig=', ...ids])
      expect([secret, text.includes(secret)]).toEqual([secret, false]);
  });
});

test(
  'a create that is not recorded stores no trace and sends no span',
  async () => {
    const program = await startTraced('one program', undefined, { creates: 0, calls: 0, reads: 0 });
    try {
      const demo = httpCaller(program.base, KEYS.demo);
      const taskId = await demo.create('/v2/video_generation', anOrder('[mark:unrecorded]'));
      await demo.finish(taskId);
      await program.stop();

      const store = new DatabaseSync(path.join(program.config.data_dir, 'tasks.sqlite'), { readOnly: true });
      const rows = store.prepare('SELECT id, trace, trace_parent FROM tasks').all();
      store.close();
      expect(rows).toEqual([{ id: taskId, trace: null, trace_parent: null }]);
      expect(traceOf(taskId)).toEqual([]);
    } finally {
      await program.end();
    }
  },
  TIMEOUT_MS,
);
