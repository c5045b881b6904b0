import type { ServerResponse } from 'node:http';
import { create } from '@bufbuild/protobuf';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { TokenChangedSchema } from '@reelgate/proto/billing/v1/billing_events';
import { TaskChangedSchema } from '@reelgate/proto/tasks/v1/task_events';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import { until, untilAfter } from '@reelgate/platform/testing/until';
import { aRelayChannel } from '../../../testing/a-relay-channel.ts';
import { TASK_ID, aCompletedTask, aTask } from '../../../testing/a-task.ts';
import { TOKEN } from '../../../testing/fake-services.ts';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';
import type { Answer } from '../../../testing/http-call.ts';
import { listen, openStream } from '../../../testing/open-stream.ts';
import { startRelayUpstream } from '../../../testing/scripted-relay-upstream.ts';
import type { RelayUpstream } from '../../../testing/scripted-relay-upstream.ts';
import { holdConnection, requestHead } from '../../../testing/held-connection.ts';
import { signIn } from '../../../testing/signed-in.ts';

let under: GatewayUnderTest;
let upstream: RelayUpstream;
beforeAll(async () => {
  upstream = await startRelayUpstream();
});
beforeEach(async () => {
  under = await startGatewayUnderTest({
    channels: [aRelayChannel({ base_url: `${upstream.url}/v1`, timeouts: { first_byte: '60s', idle: '60s' } })],
    batches: true,
  });
  change(aTask());
});
afterEach(() => under.stop());
afterAll(() => upstream.stop());

function change(task: Task): void {
  under.tasks.tasks.set(`demo/${task.id}`, task);
  under.bus.announce(
    TaskChangedSchema,
    create(TaskChangedSchema, { taskId: task.id, accountId: 'demo', state: task.state }),
  );
}
/** Revokes the token; its announcement can be lost. */
function revoke(isAnnounced = true): void {
  under.billing.tokens.set(TOKEN, { disabled: true });
  if (isAnnounced) under.bus.announce(TokenChangedSchema, create(TokenChangedSchema, { tokenId: `token-${TOKEN}` }));
}
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) await under.clock.advance(100);
}
const wait = (path: string): Promise<Answer> => call(under.url, 'GET', path, { headers: { prefer: 'wait=60' } });
const callTool = (): Promise<Answer> =>
  call(under.url, 'POST', '/mcp', {
    headers: { accept: 'application/json', 'mcp-protocol-version': '2025-11-25' },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'video_wait', arguments: { id: TASK_ID, seconds: 50 } },
    },
  });
async function untilWaiting(): Promise<void> {
  await until(async () => {
    const { text } = await call(under.url, 'GET', '/metrics', { token: null });
    return text.includes('\nreelgate_gateway_waiting_reads 1\n');
  });
}

const WAITS: readonly [string, () => Promise<Answer>][] = [
  ['a read of the videos API', () => wait(`/v1/videos/${TASK_ID}`)],
  ['a read in the shape of the vendor', () => wait(`/v2/query/video_generation/${TASK_ID}`)],
  ['a read in the generations shape', () => wait(`/v1/video/generations/${TASK_ID}`)],
  ['a read in the shape of OpenRouter', () => wait(`/api/v1/videos/${TASK_ID}`)],
  ['a tool of an agent', callTool],
];

test.each(WAITS)(
  'the wait of %s ends within two seconds after its token is revoked, without a link',
  async (_of, begin) => {
    const waiting = begin();
    await untilWaiting();
    revoke();
    await pass(2000);
    const { status, text } = await waiting;

    expect([status, text.includes('/ximg/')]).toEqual([403, false]);
  },
);
test.each(WAITS)('the wait of %s ends so too if the announcement is lost', async (_of, begin) => {
  const waiting = begin();
  await untilWaiting();
  revoke(false);
  await pass(2000);

  expect((await waiting).status).toBe(403);
});
test.each(WAITS)('the wait of %s shows no result that comes after its token is revoked', async (_of, begin) => {
  const waiting = begin();
  await untilWaiting();
  revoke();
  change(aCompletedTask());
  const { status, text } = await waiting;

  expect([status, text.includes('/ximg/')]).toEqual([403, false]);
});
test.each(WAITS)('the wait of %s goes on while billing is away', async (_of, begin) => {
  const waiting = begin();
  await untilWaiting();
  under.billing.fault = new Error('away');
  await pass(5000);
  change(aCompletedTask());

  expect((await waiting).status).toBe(200);
});
test('the wait for an asynchronous call ends within two seconds after its token is revoked', async () => {
  let answerJob = (): void => undefined;
  upstream.reply = (_request, response) => {
    answerJob = () => response.end('{}');
  };
  const { id } = (await call(under.url, 'POST', '/async/v1/chat/completions', { body: { model: 'some-model' } })).json;
  const waiting = wait(`/get-async?id=${id}`);
  await untilWaiting();
  revoke();
  await pass(2000);

  expect((await waiting).status).toBe(403);
  answerJob();
});
test('a relayed stream ends within two seconds after its token is revoked, and is charged for what was sent', async () => {
  upstream.reply = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"choices":[{"delta":{"content":"hello"}}]}\n\n');
  };
  const stream = await openStream(under.url, '/v1/chat/completions', { model: 'some-model', stream: true });
  await stream.has('data: {"choices":[{"delta":{"content":"hello"}}]}\n\n');
  revoke();
  await pass(2000);

  expect((await stream.ended).wasWhole).toBe(false);
  await untilAfter(under.clock, () => under.calls.settled.length === 1);
  expect(under.calls.settled).toMatchObject([{ basis: Basis.ESTIMATE }]);
});

const CHAT = ['/v1/chat/completions', { model: 'some-model', messages: [], max_tokens: 5 }] as const;
const SPEECH = ['/v1/audio/speech', { model: 'some-model', voice: 'v', input: 'abc' }] as const;
const IMAGES = ['/v1/images/generations', { model: 'some-model', prompt: 'x' }] as const;

test.each([
  ['a chat', ...CHAT],
  ['a stream', CHAT[0], { ...CHAT[1], stream: true }],
  ['speech', ...SPEECH],
  ['an image', ...IMAGES],
])(
  'a relayed call for %s whose answer has not begun ends so too, and pays as if its client had left',
  async (_of, path, body) => {
    let hasArrived = false;
    upstream.reply = () => {
      hasArrived = true;
    };
    const answer = call(under.url, 'POST', path, { body }).catch(() => 'closed');
    await until(() => hasArrived);
    revoke();
    await pass(2000);

    expect(await answer).toBe('closed');
    await untilAfter(under.clock, () => under.calls.settled.length === 1);
    expect(under.calls.settled).toMatchObject([{ basis: Basis.ESTIMATE }]);
  },
);
test.each([
  ['JSON', ...CHAT, 'application/json', '{"choices":['],
  ['bytes', ...SPEECH, 'audio/mpeg', 'AAAA'],
])('a relayed call whose answer drips as %s ends so too', async (_as, path, body, type, begin) => {
  let [hasArrived, hasLeft] = [false, false];
  upstream.reply = (_request, response) => {
    hasArrived = true;
    response.writeHead(200, { 'content-type': type }).write(begin);
    response.once('close', () => {
      hasLeft = true;
    });
  };
  const answer = call(under.url, 'POST', path, { body }).catch(() => 'closed');
  await until(() => hasArrived);
  revoke();
  await pass(2000);

  expect(await answer).toBe('closed');
  await until(() => hasLeft);
  await untilAfter(under.clock, () => under.calls.settled.length === 1);
  expect(under.calls.settled).toMatchObject([{ basis: Basis.ESTIMATE }]);
});

/** Serves the first bytes of a result, and no more. */
function serveForLong(): void {
  Object.assign(under.media.port, {
    serve: (_request: unknown, response: ServerResponse) =>
      new Promise<void>((resolve) => {
        response.writeHead(200, { 'content-length': 100 }).write('AAAA');
        response.once('close', resolve);
      }),
  });
}
test('a download with a token ends so too', async () => {
  change(aCompletedTask());
  serveForLong();
  const download = await listen(under.url, `/v1/videos/${TASK_ID}/content`);
  await download.has('AAAA');
  revoke();
  await pass(2000);

  expect((await download.ended).wasWhole).toBe(false);
});
test('a download of a page of the console ends so too, but not before', async () => {
  change(aCompletedTask());
  serveForLong();
  const { headers } = await signIn(under);
  const path = `/console/api/v1/videos/${TASK_ID}/content`;
  const download = await listen(under.url, path, { ...headers, authorization: '' });
  await download.has('AAAA');
  await pass(5000);
  let hasEnded = false;
  void download.ended.then(() => (hasEnded = true));
  await call(under.url, 'GET', '/healthz');
  expect(hasEnded).toBe(false);

  revoke();
  await pass(2000);
  expect((await download.ended).wasWhole).toBe(false);
});
test('an upload ends so too, and leaves no file', async () => {
  const head = requestHead({ path: '/v1/files', token: TOKEN, type: 'multipart/form-data; boundary=b', bytes: 1000 });
  const form = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n{';
  const sender = await holdConnection(under.url, [head, form]);
  await until(async () => {
    const { text } = await call(under.url, 'GET', '/metrics', { token: null });
    return /\nreelgate_gateway_in_flight [12]\n/.test(text);
  });
  revoke();
  await pass(2000);

  await sender.closed();
  expect(under.files.files.size).toBe(0);
});
test('a read of the console waits, as one with a token does', async () => {
  const { headers } = await signIn(under);
  const path = `/console/api/v1/videos/${TASK_ID}`;
  const waiting = call(under.url, 'GET', path, { token: null, headers: { ...headers, prefer: 'wait=60' } });
  await untilWaiting();
  revoke();
  await pass(2000);

  expect((await waiting).status).toBe(403);
});
