import http from 'node:http';
import { until } from '@reelgate/platform/testing/until';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import { TaskChangedSchema } from '@reelgate/proto/tasks/v1/task_events';
import { Problem } from '@reelgate/platform/problem';
import { CREATED_MS, TASK_ID, aCompletedTask, aQueuePlace, aTask, anOrder } from '../../../testing/a-task.ts';
import { TOKEN } from '../../../testing/fake-services.ts';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';

const STATUS = `/v1/videos/${TASK_ID}`;
const QUERY = `/v2/query/video_generation/${TASK_ID}`;
const FLAT = `/v1/video/generations/${TASK_ID}`;

let under: GatewayUnderTest;
beforeEach(async () => {
  under = await startGatewayUnderTest();
  put(aTask());
});
afterEach(() => under.stop());

const put = (task: Task): void => {
  under.tasks.tasks.set(`demo/${task.id}`, task);
};
/** As the tasks service reports it. */
const change = (task: Task): void => {
  put(task);
  under.bus.announce(
    TaskChangedSchema,
    create(TaskChangedSchema, { taskId: task.id, accountId: 'demo', state: task.state }),
  );
};
const get = (path: string, headers: Readonly<Record<string, string>> = {}) => call(under.url, 'GET', path, { headers });

describe('a status read', () => {
  test('has the dialect of its path, with one call for all', async () => {
    const [compat, vendor, flat] = [await get(STATUS), await get(QUERY), await get(FLAT)];

    expect(compat.json).toMatchObject({ id: TASK_ID, object: 'video', status: 'queued' });
    expect(vendor.json).toMatchObject({
      task_id: TASK_ID,
      status: 'queued',
      task: { id: TASK_ID, status: 'queued', usage: {} },
    });
    expect(flat.json).toEqual({ task_id: TASK_ID, id: TASK_ID, status: 'queued' });
    expect(under.tasks.calls).toEqual(['getTask']);
  });
  test('has the charge in its own dialect alone, and a page asks for all of its charges', async () => {
    const hold = { taskId: TASK_ID, accountId: 'demo', amountNanos: 400_000_000n, currency: 'USD' };
    under.books.addHold({ hold });
    const [compat, list, others] = [await get(STATUS), await get('/v1/videos'), [await get(QUERY), await get(FLAT)]];

    expect(compat.json.charge).toEqual({ state: 'held', amount: '0.4', currency: 'USD' });
    expect(list.json.data[0].charge).toEqual(compat.json.charge);
    expect(others.filter(({ text }) => text.includes('"charge"'))).toEqual([]);
  });
  test('without billing is answered without a charge', async () => {
    under.books.fault = new Error('away');
    const answers = [await get(STATUS), await get('/v1/videos')];
    under.books.fault = undefined;

    expect(answers.map(({ status, text }) => [status, text.includes('"charge"')])).toEqual([
      [200, false],
      [200, false],
    ]);
  });
  test('of a task that waits has its place, except in the strict shape of the vendor and in lists', async () => {
    put(aTask({ queue: aQueuePlace() }));
    const [compat, vendor, flat] = [await get(STATUS), await get(QUERY), await get(FLAT)];
    const seconds = CREATED_MS / 1000;

    expect(compat.json.queue).toEqual({
      position: 3,
      estimated_start_at: seconds + 240,
      since: seconds,
      start_by: seconds + 3600,
      class: 'batch',
      waits_for: 'own_limit',
    });
    expect(flat.json.queue).toEqual(compat.json.queue);
    expect([vendor.text, (await get('/v1/videos')).text].filter((text) => text.includes('queue"'))).toEqual([]);
  });
  test.each([
    [2400n, '2400', '3'],
    [1000n, '1000', '1'],
    [2000n, '2000', '2'],
    [900_000n, '60000', '60'],
  ])('of a running task with a hint of %s ms says to poll after %s ms', async (pollAfterMs, ms, retryAfterS) => {
    put(aTask({ pollAfterMs }));

    expect((await get(QUERY)).headers).toMatchObject({
      'openai-poll-after-ms': ms,
      'retry-after': retryAfterS,
      'cache-control': 'no-store',
    });
  });
  test('of a finished one does not', async () => {
    put(aCompletedTask());

    expect((await get(STATUS)).headers).not.toHaveProperty('openai-poll-after-ms');
    expect((await get(STATUS)).headers).not.toHaveProperty('retry-after');
  });
  test('shows a change as soon as its event arrives', async () => {
    await get(STATUS);
    change(aCompletedTask());

    expect((await get(STATUS)).json.status).toBe('completed');
  });
  test("of another account's task is like that of an unknown one", async () => {
    under.billing.tokens.set('rg_token-of-other', { accountId: 'other' });
    const theirs = await call(under.url, 'GET', QUERY, {
      token: 'rg_token-of-other',
      headers: { 'x-request-id': 'same' },
    });
    const unknown = await call(under.url, 'GET', '/v2/query/video_generation/task_00000000000000000000000000', {
      headers: { 'x-request-id': 'same' },
    });

    expect([theirs.status, theirs.text]).toEqual([404, unknown.text]);
  });
  test.each(['abc', '424010985738629', '%3Cscript%3E', '%zz', 'x'.repeat(100), 'a%2Fb'])(
    'of %j is like that of an unknown one',
    async (id) => {
      expect((await get(`/v1/videos/${id}`)).json.error.code).toBe('task_not_found');
    },
  );
  test('with HEAD has no body', async () => {
    const answer = await call(under.url, 'HEAD', STATUS);

    expect([answer.status, answer.text]).toEqual([200, '']);
  });
});

describe('a read that waits', () => {
  test('is answered when the status changes', async () => {
    const waiting = get(STATUS, { prefer: 'wait=20' });
    await until(() => under.tasks.calls.length === 1);
    change(aTask({ state: TaskState.IN_PROGRESS }));
    const answer = await waiting;

    expect(answer.json.status).toBe('in_progress');
    expect(answer.headers['preference-applied']).toBe('wait=20');
    expect(under.tasks.calls).toHaveLength(2);
  });
  test('is answered when the time is over', async () => {
    const waiting = get(QUERY, { prefer: 'respond-async, wait=2' });
    await until(() => under.tasks.calls.length === 1);
    await under.clock.advance(2000);

    expect((await waiting).json.status).toBe('queued');
  });
  test('waits at most a minute', async () => {
    const waiting = get(QUERY, { prefer: 'wait=3600' });
    await until(() => under.tasks.calls.length === 1);
    const { text: metrics } = await get('/metrics');
    expect(metrics).toContain('\nreelgate_gateway_waiting_reads 1\n');
    expect(metrics).toContain('\nreelgate_gateway_in_flight 1\n');
    expect(metrics).toContain('\nreelgate_gateway_body_bytes{state="used"} 0\n');
    await under.clock.advance(60_000);

    expect((await waiting).headers['preference-applied']).toBe('wait=60');
  });
  test.each(['wait=0', 'wait=x', 'wait', 'respond-async'])('does not wait for %j', async (prefer) => {
    expect((await get(STATUS, { prefer })).headers).not.toHaveProperty('preference-applied');
  });
  test('is answered before the gateway stops', async () => {
    const waiting = get(STATUS, { prefer: 'wait=60' });
    await until(() => under.tasks.calls.length === 1);
    await under.gateway.stop();

    expect((await waiting).json.status).toBe('queued');
  });
  test('ends when the client leaves', async () => {
    const request = http.get(`${under.url}${STATUS}`, {
      headers: { authorization: `Bearer ${TOKEN}`, prefer: 'wait=20' },
    });
    request.on('error', () => undefined);
    await until(() => under.tasks.calls.length === 1);
    request.destroy();
    let metrics = '';
    for (let poll = 0; poll < 200 && !metrics.includes('status="499"'); poll += 1)
      metrics = (await get('/metrics')).text;
    expect(metrics).toContain('status="499"');

    change(aTask({ state: TaskState.IN_PROGRESS }));
    await get('/v1/models');
    expect(under.tasks.calls).toHaveLength(1);
  });
});

describe('content', () => {
  test('is the stored object, with GET and HEAD', async () => {
    put(aCompletedTask());
    const answer = await get(`${STATUS}/content`, { 'x-request-id': 'mine' });

    expect([answer.status, answer.text, answer.headers['x-request-id']]).toEqual([
      200,
      `obj_0123456789 ${TASK_ID}.mp4`,
      'mine',
    ]);
    expect((await call(under.url, 'HEAD', `${STATUS}/content`)).status).toBe(200);
  });
  test('of a context-IR task is its prompt as JSON', async () => {
    put(aCompletedTask({ order: anOrder({ kind: TaskKind.CONTEXT_IR }), result: { prompt: 'better words' } }));
    const answer = await get(`${STATUS}/content`);

    expect([answer.json, answer.headers['content-type']]).toEqual([
      { prompt: 'better words' },
      'application/json; charset=utf-8',
    ]);
    expect(under.media.served).toEqual([]);
  });
  test.each<[string, Task, number, string, RegExp]>([
    ['queued', aTask(), 409, 'task_not_completed', /queued/],
    ['in progress', aTask({ state: TaskState.IN_PROGRESS }), 409, 'task_not_completed', /in_progress/],
    [
      'in an unknown state',
      aTask({ unrecognisedStatus: 'paused_by_moon' }),
      409,
      'task_not_completed',
      /paused_by_moon/,
    ],
    ['failed', aTask({ state: TaskState.FAILED }), 409, 'task_not_completed', /failed/],
    [
      'expired',
      aCompletedTask({ expiresAt: timestampFromMs(Date.UTC(2026, 0, 1)) }),
      410,
      'result_expired',
      /has expired/,
    ],
  ])('of a task that is %s is refused', async (_what, task, status, code, message) => {
    put(task);
    const answer = await get(`${STATUS}/content`);

    expect([answer.status, answer.json.error.code]).toEqual([status, code]);
    expect(answer.json.error.message).toMatch(message);
    expect(answer.headers['x-should-retry']).toBe(status === 409 ? 'false' : undefined);
    expect(answer.headers['retry-after']).toBe(status === 409 ? '3' : undefined);
    expect(under.media.served).toEqual([]);
  });
  test('is the video or its thumbnail only', async () => {
    put(aCompletedTask());

    expect((await get(`${STATUS}/content?variant=spritesheet`)).status).toBe(400);
    expect((await get(`${STATUS}/content?variant=thumbnail`)).status).toBe(200);
    expect((await get(`${STATUS}/content?variant=video`)).status).toBe(200);
  });
  test('that is unreachable is our fault, and its location stays hidden', async () => {
    put(aCompletedTask());
    under.media.port.serve = async () => {
      throw new Problem({
        kind: 'unavailable',
        reason: 'service_unavailable',
        message: 'a part of the service cannot be reached; try again',
      });
    };

    expect((await get(`${STATUS}/content`)).status).toBe(503);
  });
  test('with a signed link needs no token', async () => {
    const answer = await call(under.url, 'GET', '/ximg/obj_1.mp4?exp=1&sig=x', { token: null });

    expect([answer.status, answer.text]).toEqual([200, '/ximg/obj_1.mp4?exp=1&sig=x']);
  });
});

describe('lists', () => {
  test("are pages of the caller's own tasks, in both shapes", async () => {
    const compat = await get('/v1/videos?limit=2&order=asc&after=task_0');
    const vendor = await get('/v2/query/video_generation?page_num=2&page_size=5');

    expect(compat.json).toMatchObject({ object: 'list', first_id: TASK_ID, last_id: TASK_ID, has_more: false });
    expect(vendor.json).toMatchObject({ total: 1, items: [{ id: TASK_ID }] });
    expect(under.tasks.lists).toMatchObject([
      { accountId: 'demo', limit: 2, ascending: true, after: 'task_0' },
      { accountId: 'demo', limit: 5, offset: 5, withTotal: true },
    ]);
  });
  test('refuse an invalid query', async () => {
    expect((await get('/v1/videos?limit=0')).json.error).toMatchObject({ code: 'invalid_request', param: 'limit' });
    expect(under.tasks.calls).toEqual([]);
  });
});

describe('an end', () => {
  test('of a queued task is a cancel in both dialects', async () => {
    expect((await call(under.url, 'POST', `${STATUS}/cancel`)).json).toMatchObject({ id: TASK_ID, object: 'video' });
    expect((await call(under.url, 'DELETE', `/v2/video_generation/${TASK_ID}`)).json).toEqual({
      task_id: TASK_ID,
      action: 'cancelled',
      status: 'cancelled',
    });
    expect(under.tasks.calls).toEqual(['cancelTask', 'cancelTask']);
  });
  test('of a finished task deletes it, and the next read is 404', async () => {
    put(aCompletedTask());
    await get(STATUS);
    expect((await call(under.url, 'DELETE', STATUS)).json).toEqual({
      id: TASK_ID,
      object: 'video.deleted',
      deleted: true,
    });
    expect((await get(STATUS)).status).toBe(404);
  });
  test("of a finished task at the vendor's path is refused, so that a late cancel deletes no result", async () => {
    put(aCompletedTask());
    under.tasks.refuse(
      'cancelTask',
      new Problem({ kind: 'conflict', reason: 'task_not_cancellable', message: 'the task is completed' }),
    );

    expect((await call(under.url, 'DELETE', `/v2/video_generation/${TASK_ID}`)).status).toBe(409);
    expect(under.tasks.calls).not.toContain('deleteTask');
  });
  test('in the wrong state is a conflict', async () => {
    under.tasks.refuse(
      'cancelTask',
      new Problem({ kind: 'conflict', reason: 'task_not_cancellable', message: 'the task is in_progress' }),
    );
    const answer = await call(under.url, 'POST', `${STATUS}/cancel`);

    expect([answer.status, answer.json.error.code, answer.headers['x-should-retry']]).toEqual([
      409,
      'task_not_cancellable',
      'false',
    ]);
  });
});
