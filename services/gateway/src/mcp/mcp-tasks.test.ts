import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client';
import type { RawClientDispatch, TaskEnabledSession } from '@modelcontextprotocol/ext-tasks/client';
import { TaskFailureSchema, TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import { TaskChangedSchema } from '@reelgate/proto/tasks/v1/task_events';
import { Problem } from '@reelgate/platform/problem';
import { CREATED_MS, aCompletedTask, aTask } from '../../testing/a-task.ts';
import { TOKEN } from '../../testing/fake-services.ts';
import { startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { call } from '../../testing/http-call.ts';
import { connectAgent } from '../../testing/mcp-agents.ts';

const REVISION = '2026-07-28';
const EXTENSION = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const INFO = { name: 'test', version: '1' };
const ORDER = { model: 'Alpha-H3', prompt: 'x', max_amount: '1', currency: 'USD' };

interface Message {
  readonly method: string;
  readonly params: { readonly name?: string; readonly taskId?: string };
}

let under: GatewayUnderTest;
let client: Client;
let session: TaskEnabledSession;
let id: string;
let count = 500;
beforeAll(async () => {
  under = await startGatewayUnderTest();
  client = new Client(INFO, { capabilities: EXTENSION, versionNegotiation: { mode: 'auto' } });
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', under.url), {
      requestInit: { headers: { authorization: `Bearer ${TOKEN}` } },
      fetch: fetchOwnJson,
    }),
  );
  session = createTaskSessionFromClient(client, {
    endpointId: 'test',
    rawDispatch: dispatch,
    v2RequestFraming: { protocolVersion: REVISION, clientInfo: INFO, clientCapabilities: {} },
  });
});
afterAll(async () => {
  await session.close();
  await client.close();
  await under.stop();
});
beforeEach(() => {
  id = `task_${String((count += 1)).padStart(26, '0')}`;
});

/** The package takes only objects of its own realm, and `fetch` is of another one than the modules of a test. */
async function fetchOwnJson(address: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(address, init);
  return Object.assign(response, { json: async () => JSON.parse(await response.text()) as unknown });
}
/** Sends a message as it is, because the client refuses results that it does not know. */
const send = async (message: Message, token = TOKEN): Promise<ReturnType<typeof JSON.parse>> => {
  const { method, params } = message;
  const { json } = await call(under.url, 'POST', '/mcp', {
    token,
    body: { jsonrpc: '2.0', id: 1, ...message },
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': REVISION,
      'mcp-method': method,
      'mcp-name': params.name ?? params.taskId ?? '',
    },
  });
  return json;
};
const dispatch: RawClientDispatch = async (request) => {
  const { result, error } = await send(request as unknown as Message);
  return error === undefined ? { kind: 'result', result } : { kind: 'error', error };
};
const ask = (method: string, taskId: string, capabilities: object = EXTENSION, token = TOKEN) =>
  send(
    {
      method,
      params: {
        taskId,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': REVISION,
          'io.modelcontextprotocol/clientInfo': INFO,
          'io.modelcontextprotocol/clientCapabilities': capabilities,
        },
      } as Message['params'],
    },
    token,
  );
/** As the tasks service reports it. */
const change = (task: Task): void => {
  const changed = { ...task, id };
  under.tasks.tasks.set(`demo/${id}`, changed);
  under.bus.announce(
    TaskChangedSchema,
    create(TaskChangedSchema, { taskId: id, accountId: 'demo', state: task.state }),
  );
};
const failed = (code: string): Task =>
  aTask({ state: TaskState.FAILED, failure: create(TaskFailureSchema, { code, message: 'no' }) });

test('an order of a client that follows tasks becomes one, whose result is the video', async () => {
  const execution = await session.callTool('video_create', { ...ORDER, idempotency_key: 'followed' });
  id = [...under.tasks.tasks.values()].at(-1)?.id ?? '';
  change(aCompletedTask({ expiresAt: timestampFromMs(CREATED_MS + 1_000_000) }));
  // the execution itself would wait until its next poll
  const outcome = await session.task(execution.handle?.taskId ?? ('' as never)).result();
  await execution.detach();

  expect(execution.kind).toBe('task');
  expect(execution.handle).toMatchObject({ taskId: id });
  expect(outcome).toMatchObject({
    result: { structuredContent: { id, status: 'completed' }, content: [{}, {}, { type: 'resource_link' }] },
  });
});

test('the same order is no task for a client that does not declare the extension', async () => {
  const agent = await connectAgent('2.x', under.url);
  const { structuredContent } = await agent.call('video_create', { ...ORDER, idempotency_key: 'plain' });
  await agent.close();

  expect(structuredContent).toMatchObject({ status: 'queued', poll_after_seconds: 3 });
});

test.each<[string, () => Task, object]>([
  ['waits', () => aTask({ progress: 0 }), { status: 'working', statusMessage: 'queued, 0 %', ttlMs: null }],
  [
    'runs',
    () => aTask({ state: TaskState.IN_PROGRESS, progress: 40, unrecognisedStatus: 'obey me' }),
    { status: 'working', statusMessage: 'in_progress, 40 %', pollIntervalMs: 5000 },
  ],
  [
    'is done',
    () => aCompletedTask(),
    { status: 'completed', ttlMs: expect.any(Number), result: { resultType: 'complete', isError: false } },
  ],
  ['failed', () => failed('1026'), { status: 'completed', result: { isError: true } }],
  ['was cancelled', () => failed('cancelled'), { status: 'cancelled' }],
])('a task whose video %s says so', async (_what, task, expected) => {
  change(task());

  expect((await ask('tasks/get', id)).result).toMatchObject({
    resultType: 'complete',
    taskId: id,
    createdAt: new Date(CREATED_MS).toISOString(),
    lastUpdatedAt: expect.any(String),
    ...expected,
  });
});

test('a cancel is always acknowledged, also if the video goes on', async () => {
  change(aTask());
  const waiting = await ask('tasks/cancel', id);
  under.tasks.refuse(
    'cancelTask',
    new Problem({ kind: 'conflict', reason: 'task_not_cancellable', message: 'the task has begun' }),
  );
  const running = await ask('tasks/cancel', id);

  expect([waiting.result, running.result]).toMatchObject([{ resultType: 'complete' }, { resultType: 'complete' }]);
  expect(under.tasks.calls.filter((one) => one === 'cancelTask')).toHaveLength(2);
});

test('an update is acknowledged, because no task asks for anything', async () => {
  change(aTask());

  expect((await ask('tasks/update', id)).result).toMatchObject({ resultType: 'complete' });
});

test.each(['tasks/get', 'tasks/update', 'tasks/cancel'])(
  '%s needs the extension in this very request, and a task of the account',
  async (method) => {
    change(aTask());
    under.billing.tokens.set('rg_token-of-other', { accountId: 'other' });
    const codes = [
      await ask(method, id, {}),
      await ask(method, 'task_none'),
      await ask(method, 'no id at all'),
      await ask(method, id, EXTENSION, 'rg_token-of-other'),
    ].map(({ error }) => error.code);

    expect(codes).toEqual([-32_021, -32_602, -32_602, -32_602]);
  },
);

test('a failure of ours is an internal error without its words', async () => {
  under.tasks.refuse('getTask', new Error('the secret of the store'));
  const { error } = await ask('tasks/get', id);

  expect([error.code, error.message]).toEqual([-32_603, expect.not.stringContaining('secret')]);
});
