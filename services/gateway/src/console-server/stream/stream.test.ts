import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { create } from '@bufbuild/protobuf';
import { untilAfter } from '@reelgate/platform/testing/until';
import { TokenChangedSchema } from '@reelgate/proto/billing/v1/billing_events';
import { AttentionChangedSchema } from '@reelgate/proto/tasks/v1/attention_events';
import { JobEndedSchema } from '@reelgate/proto/tasks/v1/job_events';
import { TaskChangedSchema } from '@reelgate/proto/tasks/v1/task_events';
import { EventsDispatchedSchema } from '@reelgate/proto/tasks/v1/webhook_events';
import { TOKEN } from '../../../testing/fake-services.ts';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { listen } from '../../../testing/open-stream.ts';
import type { OpenStream } from '../../../testing/open-stream.ts';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import { signIn } from '../../../testing/signed-in.ts';
import type { SignedIn } from '../../../testing/signed-in.ts';

const FIRST = 'id: opened\nretry: 3000\n: changes follow\n\n';

let under: GatewayUnderTest;
let page: SignedIn;
let streams: OpenStream[];
beforeEach(async () => {
  under = await startGatewayUnderTest();
  page = await signIn(under);
  streams = [];
});
afterEach(async () => {
  for (const stream of streams) stream.leave();
  await under.stop();
});

async function open(topics: string, headers: Readonly<Record<string, string>> = {}): Promise<OpenStream> {
  const path = `/console/api/stream?topics=${encodeURIComponent(topics)}`;
  const stream = await listen(under.url, path, { ...page.headers, ...headers });
  streams.push(stream);
  return stream;
}

const changed = (taskId: string, accountId = 'demo'): void => {
  under.bus.announce(TaskChangedSchema, create(TaskChangedSchema, { taskId, accountId }));
};
const dispatched = (): void => {
  under.bus.announce(EventsDispatchedSchema, create(EventsDispatchedSchema));
};
const told = (stream: OpenStream): unknown[] =>
  stream
    .text()
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)) as unknown);
/** Resolves once a stream has been told this many changes. */
const hears = (stream: OpenStream, count: number): Promise<void> =>
  untilAfter(under.clock, () => told(stream).length >= count);

describe('a page of a client', () => {
  test('hears of the tasks of its account, and of none of another', async () => {
    const stream = await open('tasks,task:task_1,task:task_of_other');
    await stream.has(FIRST);
    changed('task_of_other', 'other');
    changed('task_1');
    await hears(stream, 2);

    expect(told(stream)).toEqual([
      { topic: 'tasks', ids: ['task_1'] },
      { topic: 'task:task_1', ids: ['task_1'] },
    ]);
    expect(stream.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
  });

  test('is told changes within half a second together, each topic once', async () => {
    const stream = await open('tasks');
    await stream.has(FIRST);
    changed('task_1');
    await stream.has('task_1');
    for (const id of ['task_2', 'task_3', 'task_2']) changed(id);
    await under.clock.advance(499);
    const early = told(stream).length;
    await hears(stream, 2);

    expect([early, told(stream)[1]]).toEqual([1, { topic: 'tasks', ids: ['task_2', 'task_3'] }]);
  });

  test('hears of webhooks when events are dispatched after work of its own account', async () => {
    const [stream, other] = [await open('webhooks'), await open('webhooks')];
    dispatched();
    under.bus.announce(JobEndedSchema, create(JobEndedSchema, { jobId: 'job_1', accountId: 'other' }));
    dispatched();
    await under.clock.advance(600);
    const before = told(other).length;
    under.bus.announce(JobEndedSchema, create(JobEndedSchema, { jobId: 'job_1', accountId: 'demo' }));
    dispatched();
    await hears(stream, 1);

    expect([before, told(stream)]).toEqual([0, [{ topic: 'webhooks', ids: [] }]]);
  });

  test('gets a heartbeat every 15 seconds, and reads everything again every 30', async () => {
    const stream = await open('tasks');
    await stream.has(FIRST);
    await under.clock.advance(15_000);
    await stream.has(`${FIRST}:\n\n`);
    await under.clock.advance(500);
    await under.clock.advance(14_500);
    await hears(stream, 1);

    expect(told(stream)).toEqual([{ topic: 'all', ids: [] }]);
  });

  test('that comes back reads everything again', async () => {
    const stream = await open('tasks', { 'last-event-id': 'opened' });
    await hears(stream, 1);

    expect(told(stream)).toEqual([{ topic: 'all', ids: [] }]);
  });

  test.each(['', 'now', 'attention', 'tasks,channels', 'task:', "task:a'b", `${'task:a,'.repeat(2)}x`])(
    'cannot follow %j',
    async (topics) => {
      const { status, json } = await page.get(`/stream?topics=${encodeURIComponent(topics)}`);

      expect([status, json.error.param]).toEqual([400, 'topics']);
    },
  );

  test('is one of four of its token', async () => {
    const [first] = [await open('tasks'), await open('tasks'), await open('tasks'), await open('tasks')];
    const refused = await page.get('/stream?topics=tasks');
    first?.leave();
    await untilAfter(under.clock, async () => {
      const next = await open('tasks');
      if (next.response.statusCode !== 200) next.leave();
      return next.response.statusCode === 200;
    });

    expect([refused.status, refused.json.error.code]).toEqual([429, 'rate_limit_exceeded']);
  });

  test('is cut off soon after its token is revoked', async () => {
    const stream = await open('tasks');
    await stream.has(FIRST);
    under.billing.tokens.delete(TOKEN);
    under.bus.announce(TokenChangedSchema, create(TokenChangedSchema, { tokenId: `token-${TOKEN}` }));
    await under.clock.advance(2000);

    expect((await stream.ended).wasWhole).toBe(true);
  });

  test('is let go when the gateway stops', async () => {
    const stream = await open('tasks');
    await stream.has(FIRST);
    await under.gateway.stop();

    expect((await stream.ended).wasWhole).toBe(true);
  });
});

test('a page of an operator hears of every account, and of what waits for a decision', async () => {
  const operators = await startOperatorUnderTest();
  const { bus, clock } = operators.gateway;
  const path = '/console/api/stream?topics=attention,now,task:task_of_other';
  const stream = await listen(operators.url, path, await operators.headersOf('viewer'));
  await stream.has(FIRST);
  bus.announce(TaskChangedSchema, create(TaskChangedSchema, { taskId: 'task_of_other', accountId: 'other' }));
  bus.announce(AttentionChangedSchema, create(AttentionChangedSchema, { taskId: 'task_1' }));
  await untilAfter(clock, () => told(stream).length >= 3);
  stream.leave();
  await operators.stop();

  expect(told(stream).slice(0, 3)).toEqual([
    { topic: 'task:task_of_other', ids: ['task_of_other'] },
    { topic: 'attention', ids: ['task_1'] },
    { topic: 'now', ids: [] },
  ]);
});
