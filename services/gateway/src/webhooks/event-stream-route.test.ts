import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import { once } from 'node:events';
import { create } from '@bufbuild/protobuf';
import { Problem } from '@reelgate/platform/problem';
import { until, untilAfter } from '@reelgate/platform/testing/until';
import { TokenChangedSchema } from '@reelgate/proto/billing/v1/billing_events';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { aTask } from '../../testing/a-task.ts';
import { TOKEN } from '../../testing/fake-services.ts';
import { startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { call } from '../../testing/http-call.ts';
import { listen } from '../../testing/open-stream.ts';
import type { OpenStream } from '../../testing/open-stream.ts';

const FIRST = (cursor: string): string => `id: ${cursor}\nretry: 3000\n: events follow\n\n`;

let under: GatewayUnderTest;
let streams: OpenStream[];
beforeEach(async () => {
  under = await startGatewayUnderTest();
  streams = [];
});
afterEach(async () => {
  for (const stream of streams) stream.leave();
  await under.stop();
});

async function hear(query = '', headers: Readonly<Record<string, string>> = {}): Promise<OpenStream> {
  const stream = await listen(under.url, `/v1/events${query}`, headers);
  streams.push(stream);
  return stream;
}

const dataOf = (text: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)) as unknown);
const idsOf = (text: string): unknown[] => dataOf(text).map((event) => (event as { id: string }).id);

describe('a stream', () => {
  test('begins with the place from which a client goes on, and carries the body of a delivery', async () => {
    under.webhooks.events.add();
    const stream = await hear();
    await stream.has(FIRST('evt_1'));
    under.webhooks.events.add({ type: 'balance.low', subjectId: 'demo', dataJson: '{"currency":"USD"}' });
    await stream.has('evt_2');

    expect(stream.response.statusCode).toBe(200);
    expect(stream.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    expect(stream.text()).toBe(
      `${FIRST('evt_1')}id: evt_2\nevent: balance.low\ndata: {"object":"event","id":"evt_2","type":"balance.low",` +
        '"created_at":1000,"data":{"id":"demo","currency":"USD"}}\n\n',
    );
  });
  test('goes on after the last event of a client, by header or by query', async () => {
    for (let count = 0; count < 3; count += 1) under.webhooks.events.add();
    const [byHeader, byQuery] = [await hear('', { 'last-event-id': 'evt_1' }), await hear('?last_event_id=evt_2')];
    await Promise.all([byHeader.has('"evt_3"'), byQuery.has('"evt_3"')]);

    expect([idsOf(byHeader.text()), idsOf(byQuery.text())]).toEqual([['evt_2', 'evt_3'], ['evt_3']]);
    expect(byHeader.text().startsWith(FIRST('evt_1'))).toBe(true);
  });
  test('of a client that names its place begins although nothing is new', async () => {
    under.webhooks.events.add();
    const opening = hear('', { 'last-event-id': 'evt_1' });
    await until(() => under.webhooks.events.open() === 1);
    await under.clock.advance(1000);

    await (await opening).has(FIRST('evt_1'));
  });
  test('carries the task as a status read answers, if it is asked for', async () => {
    const stream = await hear('?payload=full');
    const task = aTask({ id: 'task_1', state: TaskState.FAILED });
    under.webhooks.events.add({ type: 'video.failed', subjectId: 'task_1', subject: { case: 'task', value: task } });
    await stream.has('video.failed');
    under.tasks.tasks.set('demo/task_1', task);

    expect(dataOf(stream.text())).toMatchObject([
      { data: { id: 'task_1', task: (await call(under.url, 'GET', '/v1/videos/task_1')).json } },
    ]);
    expect(under.webhooks.events.watches).toMatchObject([{ withSubject: true }]);
  });
  test('hears only what it asks for, and its place still moves', async () => {
    const stream = await hear('?types=video.failed,job.failed&task_id=task_9');
    under.webhooks.events.add();
    under.webhooks.events.add({ type: 'video.failed', subjectId: 'task_9' });
    under.webhooks.events.add();
    await stream.has('"evt_2"');
    under.webhooks.events.beat();
    await stream.has('id: evt_3\n\n');

    expect(idsOf(stream.text())).toEqual(['evt_2']);
  });
  test('hears nothing of other accounts', async () => {
    const stream = await hear();
    under.webhooks.events.add({ accountId: 'other' });
    under.webhooks.events.add();
    await stream.has('"evt_2"');

    expect(idsOf(stream.text())).toEqual(['evt_2']);
  });
  test('notices nothing when the tasks service ends its stream', async () => {
    const stream = await hear();
    await until(() => under.webhooks.events.open() === 1);
    under.webhooks.events.add();
    await stream.has('"evt_1"');
    under.webhooks.events.cut();
    await until(() => under.webhooks.events.open() === 0);
    under.webhooks.events.add();
    await untilAfter(under.clock, () => stream.text().includes('"evt_2"'));

    expect(idsOf(stream.text())).toEqual(['evt_1', 'evt_2']);
    expect(under.webhooks.events.watches.map(({ cursor }) => cursor)).toEqual(['', 'evt_1']);
  });
  test('stays alive while the tasks service is away', async () => {
    const stream = await hear();
    await until(() => under.webhooks.events.open() === 1);
    const away = new Problem({ kind: 'unavailable', reason: 'service_unavailable', message: 'not now' });
    under.webhooks.events.refuse(away);
    under.webhooks.events.cut();
    await until(() => under.webhooks.events.open() === 0);
    for (let second = 0; second < 31; second += 1) await under.clock.advance(1000);
    expect(stream.text().split(':\n\n').length - 1).toBe(2);
    expect(under.webhooks.events.watches.length).toBeLessThan(20);

    under.webhooks.events.refuse(undefined);
    under.webhooks.events.add();
    await untilAfter(under.clock, () => stream.text().includes('"evt_1"'));
  });
  test('sends a heartbeat when it has been silent for 15 seconds', async () => {
    const stream = await hear();
    await stream.has(FIRST('evt_0'));
    await under.clock.advance(14_999);
    expect(stream.text()).toBe(FIRST('evt_0'));

    await under.clock.advance(1);
    await stream.has(`${FIRST('evt_0')}:\n\n`);
  });
});

describe('a stream ends', () => {
  test('at once when the gateway stops', async () => {
    const stream = await hear();
    await until(() => under.webhooks.events.open() === 1);
    await under.gateway.stop();

    expect(await stream.ended).toEqual({ text: FIRST('evt_0'), wasWhole: true });
    expect(under.webhooks.events.open()).toBe(0);
  });
  test('when its client leaves', async () => {
    const stream = await hear();
    await until(() => under.webhooks.events.open() === 1);
    stream.leave();

    await until(() => under.webhooks.events.open() === 0);
  });
  test('when its token is revoked', async () => {
    const stream = await hear();
    under.billing.tokens.set(TOKEN, { disabled: true });
    under.bus.announce(TokenChangedSchema, create(TokenChangedSchema, { tokenId: `token-${TOKEN}` }));
    await under.clock.advance(2000);

    expect((await stream.ended).wasWhole).toBe(true);
  });
  test('when its token expires', async () => {
    under.billing.tokens.set(TOKEN, { expiresAtMs: under.clock.now() + 5000 });
    const stream = await hear();
    for (let second = 0; second < 6; second += 1) await under.clock.advance(1000);

    expect((await stream.ended).wasWhole).toBe(true);
  });
  test('when its place is no longer kept', async () => {
    const stream = await hear();
    await until(() => under.webhooks.events.open() === 1);
    under.webhooks.events.refuse(new Problem({ kind: 'gone', reason: 'event_expired', message: 'is no longer kept' }));
    under.webhooks.events.cut();
    await untilAfter(under.clock, () => under.webhooks.events.watches.length === 2);

    expect((await stream.ended).wasWhole).toBe(false);
  });
});

describe('a client that does not read', () => {
  const BIG = JSON.stringify({ more: 'x'.repeat(100_000) });

  test('stops the reading of events, and gets them all once it reads', async () => {
    const socket = connect(Number(new URL(under.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.pause();
    socket.write(`GET /v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`);
    await until(() => under.webhooks.events.open() === 1);
    for (let count = 0; count < 400; count += 1) under.webhooks.events.add({ dataJson: BIG });
    await settled(() => under.webhooks.events.taken());
    expect(under.webhooks.events.taken()).toBeLessThan(200);

    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    socket.resume();
    await until(() => text.includes('id: evt_400\n'));
    expect(text.match(/^event: /gm)).toHaveLength(400);
    socket.destroy();
  });
  test('is cut off after a minute', async () => {
    const socket = connect(Number(new URL(under.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.pause();
    socket.on('error', () => undefined);
    socket.write(`GET /v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`);
    await until(() => under.webhooks.events.open() === 1);
    for (let count = 0; count < 400; count += 1) under.webhooks.events.add({ dataJson: BIG });
    await settled(() => under.webhooks.events.taken());
    await under.clock.advance(60_000);

    await until(() => under.webhooks.events.open() === 0);
    socket.destroy();
  });
});

describe('a refusal', () => {
  test.each<[string, string, Record<string, string>, number, string, string]>([
    ['an unknown type', '?types=video.completed,response.completed', {}, 400, 'invalid_request', 'types'],
    ['an impossible task', '?task_id=a%20b', {}, 400, 'invalid_request', 'task_id'],
    ['another payload', '?payload=fat', {}, 400, 'invalid_request', 'payload'],
    ['an impossible place', '', { 'last-event-id': 'a b' }, 400, 'invalid_request', 'Last-Event-ID'],
    ['an impossible place in the query', '?last_event_id=a%20b', {}, 400, 'invalid_request', 'last_event_id'],
    ['a place that is no longer kept', '', { 'last-event-id': 'evt_77' }, 410, 'event_expired', 'Last-Event-ID'],
    ['the same in the query', '?last_event_id=evt_77', {}, 410, 'event_expired', 'last_event_id'],
  ])('%s', async (_what, query, headers, status, code, param) => {
    const answer = await call(under.url, 'GET', `/v1/events${query}`, { headers });

    expect([answer.status, answer.json.error.code, answer.json.error.param]).toEqual([status, code, param]);
  });
  test('of a ninth stream of a token is 429 with a time, until one ends', async () => {
    for (let count = 0; count < 8; count += 1) await hear();
    const refused = await call(under.url, 'GET', '/v1/events');
    expect([refused.status, refused.headers['retry-after'], refused.json.error.code]).toEqual([
      429,
      '5',
      'rate_limit_exceeded',
    ]);

    streams[0]!.leave();
    await until(() => under.webhooks.events.open() === 7);
    expect((await hear()).response.statusCode).toBe(200);
  });
});

/** Waits until a number no longer changes. */
async function settled(number: () => number): Promise<void> {
  let [last, same] = [-1, 0];
  await until(() => {
    same = number() === last ? same + 1 : 0;
    last = number();
    return same > 20;
  });
}
