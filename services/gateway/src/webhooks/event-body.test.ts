import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { linkKey } from '@reelgate/platform/signatures';
import { Secret } from '@reelgate/platform/secret';
import { JobSchema, JobEncoding } from '@reelgate/proto/tasks/v1/job';
import type { Job } from '@reelgate/proto/tasks/v1/job';
import { FinishJobRequestSchema } from '@reelgate/proto/tasks/v1/job_service';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import { EventSchema, WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';
import type { Event } from '@reelgate/proto/tasks/v1/webhook';
import { TASK_ID, aCompletedTask, aTask } from '../../testing/a-task.ts';
import { startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { call } from '../../testing/http-call.ts';
import { newLinkSigner } from '../http/signed-links.ts';
import { eventBodies, shareBodies } from './event-body.ts';
import type { EventBody, BodyBytes } from './event-body.ts';
import { anEvent } from '../../testing/a-webhook-fixture.ts';

const FAILED_ID = 'task_0123456789abcdefghjkmnpqrt';
const JOB_ID = 'job_00000000000000000000000001';
const LIMIT = 256 * 1024;

let under: GatewayUnderTest;
let eventBody: EventBody;
beforeAll(async () => {
  under = await startGatewayUnderTest();
  const links = newLinkSigner('https://gateway.example', linkKey(new Secret('a key')));
  eventBody = eventBodies({ links, media: under.media.port });
});
afterAll(() => under.stop());

type EventInit = Exclude<MessageInitShape<typeof EventSchema>, Event>;

const bodyOf = (over: EventInit, payload: 'THIN' | 'FULL'): Promise<string> =>
  eventBody(
    create(EventSchema, {
      id: 'evt_1',
      accountId: 'demo',
      type: 'video.completed',
      subjectId: TASK_ID,
      createdAt: timestampFromMs(1_767_225_690_999),
      ...over,
    }),
    WebhookPayload[payload],
  );
const THIN = `{"object":"event","id":"evt_1","type":"video.completed","created_at":1767225690,"data":{"id":"${TASK_ID}"}}`;

async function statusRead(path: string): Promise<string> {
  const answer = await call(under.url, 'GET', path);
  expect(answer.status).toBe(200);
  return answer.text;
}

/** A call that has ended with these bytes, as tasks keeps it. */
function endedJob(encoding: JobEncoding, bytes: Buffer): Job {
  const answer = {
    statusCode: 200,
    contentType: 'text/plain',
    encoding,
    size: BigInt(bytes.length),
    body: { case: 'inline' as const, value: bytes },
  };
  const request = { accountId: 'demo' } as never;
  const end = create(FinishJobRequestSchema, { answer });
  under.jobs.jobs.set(JOB_ID, { id: JOB_ID, request, state: TaskState.COMPLETED, lease: '', starts: 1, end });
  return create(JobSchema, { id: JOB_ID, accountId: 'demo', state: TaskState.COMPLETED, answer });
}
const jobEvent = (job: Job): EventInit => ({
  type: 'job.completed',
  subjectId: JOB_ID,
  subject: { case: 'job', value: job },
});

describe('a thin body', () => {
  test('names the event and what it is about', async () => {
    expect(await bodyOf({}, 'THIN')).toBe(THIN);
  });

  test('has nothing of a subject that the event carries', async () => {
    expect(await bodyOf({ subject: { case: 'task', value: aCompletedTask() } }, 'THIN')).toBe(THIN);
  });

  test('has the further members of the event', async () => {
    const dataJson = '{"currency":"USD","available":"1.23","last_credit":"20.00"}';

    expect(await bodyOf({ type: 'balance.low', subjectId: 'demo', dataJson }, 'THIN')).toBe(
      '{"object":"event","id":"evt_1","type":"balance.low","created_at":1767225690,' +
        '"data":{"id":"demo","currency":"USD","available":"1.23","last_credit":"20.00"}}',
    );
  });
});

describe('a full body', () => {
  test.each<[string, Task]>([
    ['a completed task', aCompletedTask()],
    [
      'a failed task',
      aTask({ id: FAILED_ID, state: TaskState.FAILED, failure: { code: 'content_policy', message: 'refused "it"' } }),
    ],
  ])('has the bytes of the status read of %s', async (_what, task) => {
    under.tasks.tasks.set(`demo/${task.id}`, task);

    const body = await bodyOf({ subjectId: task.id, subject: { case: 'task', value: task } }, 'FULL');

    const read = await statusRead(`/v1/videos/${task.id}`);
    expect(body).toBe(THIN.replace(TASK_ID, task.id).replace('}}', `,"task":${read}}}`));
    expect(JSON.parse(body)).toMatchObject({ data: { id: task.id, task: { object: 'video', id: task.id } } });
  });

  test.each<[string, JobEncoding, Buffer]>([
    ['JSON', JobEncoding.JSON, Buffer.from('{ "a" : [1, "ü"] }')],
    ['text', JobEncoding.TEXT, Buffer.from('line 1\n"line" 2 ü')],
    ['other bytes', JobEncoding.BASE64, Buffer.from([0, 255, 254, 7])],
  ])('has the bytes of the read of a call with %s', async (_what, encoding, bytes) => {
    const body = await bodyOf(jobEvent(endedJob(encoding, bytes)), 'FULL');

    const read = await statusRead(`/get-async?id=${JOB_ID}`);
    expect(body).toBe(
      `{"object":"event","id":"evt_1","type":"job.completed","created_at":1767225690,` +
        `"data":{"id":"${JOB_ID}","job":${read}}}`,
    );
    expect(JSON.parse(body)).toMatchObject({ data: { job: { id: JOB_ID, status: 'completed' } } });
  });

  test('has the result of a call that is kept as an object', async () => {
    under.media.kept.set('prv_1', { accountId: 'demo', bytes: Buffer.from('[1]'), keepMs: 1 });

    const body = await bodyOf(jobEvent(jobWith('prv_1')), 'FULL');

    expect(JSON.parse(body)).toMatchObject({ data: { job: { result: [1] } } });
  });

  test.each<[string, EventInit]>([
    ['an event whose task is no longer kept', { subjectId: JOB_ID, type: 'job.completed' }],
    ['a result that is no longer kept', jobEvent(jobWith('prv_gone'))],
    ['a result above the bound', jobEvent(jobWith(Buffer.alloc(LIMIT + 1, 'a')))],
    ['a result that is above the bound once it is escaped', jobEvent(jobWith(Buffer.alloc(LIMIT / 2, '"')))],
    ['a result that fits the bound only without its event', jobEvent(jobWith(Buffer.alloc(LIMIT - 150, 'a')))],
  ])('is thin for %s', async (_what, event) => {
    expect(await bodyOf(event, 'FULL')).toBe(await bodyOf(event, 'THIN'));
  });
});

/** A call that has ended with these bytes, or with an object that holds JSON. */
function jobWith(body: Buffer | string): Job {
  const inObject = typeof body === 'string';
  return create(JobSchema, {
    id: JOB_ID,
    state: TaskState.COMPLETED,
    answer: {
      statusCode: 200,
      contentType: inObject ? 'application/json' : 'text/plain',
      encoding: inObject ? JobEncoding.JSON : JobEncoding.TEXT,
      size: BigInt(body.length),
      body: inObject ? { case: 'object', value: body } : { case: 'inline', value: body },
    },
  });
}

/** Counts the bodies that are built, by event and payload. */
function counted(textOf: (id: string) => string): { readonly bodyOf: BodyBytes; readonly built: string[] } {
  const built: string[] = [];
  const bodyOf = shareBodies(async ({ id }, payload) => {
    built.push(`${id} ${WebhookPayload[payload]}`);
    return textOf(id);
  });
  return { bodyOf, built };
}

test('a body is built once for all receivers of a lease, for each payload', async () => {
  const { bodyOf, built } = counted((id) => `ü ${id}`);
  const [one, two] = [anEvent({ id: 'evt_1' }), anEvent({ id: 'evt_2' })];

  expect(await bodyOf(one, WebhookPayload.THIN)).toEqual(Buffer.from('ü evt_1'));
  for (const event of [one, two, one, two]) await bodyOf(event, WebhookPayload.THIN);
  await bodyOf(one, WebhookPayload.FULL);

  expect(built).toEqual(['evt_1 THIN', 'evt_2 THIN', 'evt_1 FULL']);
});

test('a large body is not kept', async () => {
  const { bodyOf, built } = counted(() => 'a'.repeat(9000));

  for (let receiver = 0; receiver < 3; receiver += 1)
    expect((await bodyOf(anEvent(), WebhookPayload.FULL)).length).toBe(9000);

  expect(built).toHaveLength(3);
});
