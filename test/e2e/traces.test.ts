import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openOtlpSink } from '@reelgate/platform/testing/otlp-sink';
import type { OtlpSink } from '@reelgate/platform/testing/otlp-sink';
import type { ReceivedSpan } from '@reelgate/platform/testing/otlp-spans';
import { until } from '@reelgate/platform/testing/until';
import type { DoctorLine } from '../../deploy/cli/doctor/doctor-line.ts';
import { httpCaller } from '../harness/client.ts';
import type { HttpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { startRelayUpstream } from '../harness/relay-upstream/relay-upstream.ts';
import type { RelayUpstream } from '../harness/relay-upstream/relay-upstream.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS, UPSTREAM_KEY } from '../harness/test-config.ts';
import { aChat, untilEnded, withJobs } from './async-calls.ts';

const TIMEOUT_MS = 120_000;
const PLANTED = 'a planted prompt';
const CREATE = {
  model: 'Alpha-H3',
  duration: 4,
  resolution: '768P',
  ratio: '16:9',
  content: [{ type: 'text', text: PLANTED }],
};

let sink: OtlpSink;
let upstream: ScriptedUpstream;
let relay: RelayUpstream;
let program: Program;
let demo: HttpCaller;

/** The program as an operator runs it, which sends its spans to a receiver of the usual variables. */
beforeAll(async () => {
  [sink, upstream, relay] = await Promise.all([openOtlpSink(), startScriptedUpstream(), startRelayUpstream()]);
  program = await newProgram('one program', { upstream: upstream.host }, withJobs(relay.host), {
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: sink.endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-receiver=of-the-test',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      OTEL_TRACES_SAMPLER: 'always_on',
    },
  });
  await program.start();
  demo = httpCaller(program.base, KEYS.demo);
}, TIMEOUT_MS);
afterAll(async () => {
  await program?.end();
  await Promise.all([upstream?.stop(), relay?.stop(), sink?.close()]);
}, TIMEOUT_MS);

/** The trace whose request has this id, once the span of the request has come. */
async function traceOf(requestId: string): Promise<{ readonly root: ReceivedSpan; names(): readonly string[] }> {
  const roots = (): ReceivedSpan[] =>
    sink.spans.filter(({ attributes }) => attributes['reelgate.request.id'] === requestId);
  await until(() => roots().length > 0);
  const [root] = roots();
  return {
    root: root!,
    names: () => sink.spans.filter(({ traceId }) => traceId === root!.traceId).map(({ name }) => name),
  };
}

test('a create is one trace of the request and of the calls between the services', async () => {
  await demo.create('/v2/video_generation', CREATE, { 'x-request-id': 'create-1' });

  const { root, names } = await traceOf('create-1');
  await until(() => names().includes('reelgate.billing.v1.BillingService/PlaceHold'));

  expect(root.name).toBe('POST /v2/video_generation');
  expect(root.parentSpanId).toBe('');
  expect(root.resource).toMatchObject({ 'service.name': 'reelgate', 'deployment.environment.name': 'test' });
  expect(names()).toContain('reelgate.tasks.v1.TaskService/CreateTask');
  expect(sink.headers[0]!['x-receiver']).toBe('of-the-test');
});

test('a relayed call and a read are traces of their own', async () => {
  const taskId = await demo.create('/v2/video_generation', CREATE);
  await demo.call('GET', `/v1/videos/${taskId}`, undefined, { 'x-request-id': 'read-1' });
  await demo.call('POST', '/v1/chat/completions', aChat('traced', PLANTED), { 'x-request-id': 'relay-1' });

  const [read, relayed] = [await traceOf('read-1'), await traceOf('relay-1')];

  expect(read.root.attributes).toMatchObject({
    'http.route': '/v1/videos/{task_id}',
    'http.response.status_code': 200,
  });
  expect(relayed.names()).toEqual(expect.arrayContaining(['POST /v1/chat/completions', 'chat solo', 'POST']));
  expect(read.root.traceId).not.toBe(relayed.root.traceId);
});

test('an asynchronous call is one trace from its create to the call that a worker makes', async () => {
  const made = await demo.call('POST', '/async/v1/chat/completions', aChat('queued', PLANTED), {
    'x-request-id': 'job-1',
  });
  await untilEnded(demo, (made.json as { id: string }).id);

  const { root, names } = await traceOf('job-1');
  await until(() => names().includes('chat solo') && names().includes('run job'));

  expect(root.name).toBe('POST /async/{+path}');
  expect(names()).toContain('reelgate.tasks.v1.JobService/FinishJob');
});

test('no span holds a prompt, a key, the address of an upstream or a query', async () => {
  await demo.call('GET', '/v1/videos?limit=1&after=planted-query', undefined, { 'x-request-id': 'list-1' });
  await traceOf('list-1');

  const text = JSON.stringify(sink.spans);
  const forbidden = [PLANTED, 'planted', UPSTREAM_KEY, upstream.host, relay.host, '127.0.0.1', ...Object.values(KEYS)];
  expect(forbidden.filter((secret) => text.includes(secret))).toEqual([]);
});

test(
  'the doctor says how many spans were dropped and why, and the warning in the log names no request',
  async () => {
    const tracesLine = async (): Promise<DoctorLine | undefined> =>
      ((await program.command('doctor')).json as { readonly lines: readonly DoctorLine[] }).lines.find(
        ({ part }) => part === 'traces',
      );
    expect(await tracesLine()).toMatchObject({ grade: 'ok', detail: expect.stringContaining('none was dropped') });

    sink.answer(400);
    await demo.call('GET', '/v1/models', undefined, { 'x-request-id': 'dropped-1' });
    await until(() => program.output().includes('spans were dropped'));
    sink.answer(200);

    expect(await tracesLine()).toMatchObject({
      grade: 'warn',
      detail: expect.stringMatching(/^\d+ spans were dropped in 15 minutes: .* \(the receiver answered 400\)$/),
      advice: expect.stringContaining('tracing.endpoint'),
    });
    const [line = ''] = program
      .output()
      .split('\n')
      .filter((text) => text.includes('spans were dropped'));
    expect(JSON.parse(line)).toMatchObject({ reason: 'not_sent', fault: 'the receiver answered 400' });
    expect(Object.keys(JSON.parse(line) as object)).not.toEqual(expect.arrayContaining(['requestId']));
    expect(Object.keys(JSON.parse(line) as object)).not.toEqual(expect.arrayContaining(['trace_id']));
  },
  TIMEOUT_MS,
);

test('a stop sends the spans that wait', async () => {
  await demo.call('GET', '/v1/models', undefined, { 'x-request-id': 'last-1' });
  await program.stop();

  expect(sink.spans.some(({ attributes }) => attributes['reelgate.request.id'] === 'last-1')).toBe(true);
});
