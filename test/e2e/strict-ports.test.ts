import { create, toJson } from '@bufbuild/protobuf';
import type { DescMethod } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connectGrpc } from '@reelgate/platform/rpc/grpc/client';
import type { GrpcConnection } from '@reelgate/platform/rpc/grpc/client';
import { Secret } from '@reelgate/platform/secret';
import { callGrpc } from '@reelgate/platform/testing/raw-rpc';
import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { CheckOrderRequestSchema, TaskService } from '@reelgate/proto/tasks/v1/task_service';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { everyRpc } from '../harness/contracts.ts';
import { anEndlessOrder } from '../harness/orders.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { UPSTREAM_KEY, UPSTREAM_MODEL, callerKey } from '../harness/test-config.ts';

const START_TIMEOUT_MS = 120_000;
const SERVICES = ['tasks', 'billing', 'media'] as const;
const ENVELOPE_HEAD_BYTES = 5;
/** The code of gRPC. */
const INVALID_ARGUMENT = '3';

const rpcs = await everyRpc();

let sandbox: Sandbox;
let program: Program;
let tokenId: string;
const connections: GrpcConnection[] = [];

beforeAll(async () => {
  sandbox = await startSandbox({ listen: '127.0.0.1:0', key: UPSTREAM_KEY, render: async () => new Uint8Array(0) });
  program = await newProgram('one program', { upstream: new URL(sandbox.url).host });
  await program.start();
  const accounts = connect('billing').client(AccountService);
  tokenId = (await accounts.createToken({ accountId: 'demo', models: ['*'] })).token!.id;
}, START_TIMEOUT_MS);

afterAll(async () => {
  for (const connection of connections) connection.close();
  await program?.end();
  await sandbox?.stop();
}, START_TIMEOUT_MS);

function connect(service: 'tasks' | 'billing'): GrpcConnection {
  const connection = connectGrpc(program.config[service].listen, new Secret(callerKey('pipeline')));
  connections.push(connection);
  return connection;
}

/** The service whose port has an RPC. Every service serves its diagnosis. */
function serviceOf({ parent }: DescMethod): (typeof SERVICES)[number] {
  return SERVICES.find((service) => parent.typeName.startsWith(`reelgate.${service}.`)) ?? 'tasks';
}

interface Refused {
  readonly status: number;
  readonly code?: string;
  readonly message?: string;
  readonly reason?: string | undefined;
  readonly field?: string | undefined;
}

interface WireError {
  readonly code?: string;
  readonly message?: string;
  readonly details?: readonly { readonly debug?: { readonly reason?: string; readonly field?: string } }[];
}

/** What curl would get for a body. */
async function post(method: DescMethod, body: string): Promise<Refused> {
  const isStream = method.methodKind !== 'unary';
  const url = `http://${program.config[serviceOf(method)].http}/${method.parent.typeName}/${method.name}`;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': `application/${isStream ? 'connect+' : ''}json`,
      authorization: `Bearer ${callerKey('pipeline')}`,
    },
    body: isStream ? enveloped(body) : body,
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const json = JSON.parse(bytes.subarray(isStream ? ENVELOPE_HEAD_BYTES : 0).toString()) as object;
  const error: WireError = isStream ? ((json as { readonly error?: WireError }).error ?? {}) : json;
  const { reason, field } = error.details?.[0]?.debug ?? {};
  return { status: response.status, code: error.code, message: error.message, reason, field } as Refused;
}

function enveloped(text: string): Buffer {
  const head = Buffer.alloc(ENVELOPE_HEAD_BYTES);
  head.writeUInt32BE(Buffer.byteLength(text), 1);
  return Buffer.concat([head, Buffer.from(text)]);
}

const orderJson = (over: object = {}): object => {
  const message = create(CheckOrderRequestSchema, { order: anEndlessOrder() });
  const { order } = toJson(CheckOrderRequestSchema, message) as { readonly order: object };
  return { ...order, ...over };
};

describe.each(rpcs)('%s', (_name, method) => {
  const status = method.methodKind === 'unary' ? 400 : 200;

  test('refuses a field that its request does not have', async () => {
    expect(await post(method, '{"no_such_field":1}')).toMatchObject({
      status,
      code: 'invalid_argument',
      reason: 'unknown_field',
      field: 'no_such_field',
      message: expect.stringContaining(`no_such_field is not a field of ${method.input.name}; `),
    });
  });

  test('refuses what is not JSON', async () => {
    expect(await post(method, '{"a":')).toMatchObject({
      status,
      code: 'invalid_argument',
      reason: 'invalid_json',
      message: 'the body is not JSON: Unexpected end of JSON input',
    });
  });
});

test('a caller lists the models without a token of the public API, and those of a token with its id', async () => {
  const tasks = connect('tasks').client(TaskService);
  const narrow = await connect('billing')
    .client(AccountService)
    .createToken({ accountId: 'demo', models: ['none'] });

  const { models } = await tasks.listModels({ accountId: 'demo' });

  expect(models).toContainEqual(
    expect.objectContaining({ id: 'Alpha-H3', kinds: expect.arrayContaining([1]), resolutions: ['768P', '2K'] }),
  );
  expect(JSON.stringify(models, (_key, value: unknown) => value)).not.toContain(UPSTREAM_MODEL);
  expect((await tasks.listModels({ accountId: 'demo', tokenId })).models).toEqual(models);
  expect((await tasks.listModels({ accountId: 'demo', tokenId: narrow.token!.id })).models).toEqual([]);
  await expect(tasks.listModels({ accountId: 'other' })).rejects.toMatchObject({ reason: 'account_not_allowed' });
});

describe('a create', () => {
  test('sent twice with a misspelt key makes nothing and holds nothing', async () => {
    const tasks = connect('tasks').client(TaskService);
    const accounts = connect('billing').client(AccountService);
    const before = await accounts.getAccount({ id: 'demo' });
    const { tasks: earlier } = await tasks.listTasks({ accountId: 'demo' });
    const body = JSON.stringify({ accountId: 'demo', tokenId, order: orderJson(), idempotencykey: 'k-1' });

    for (const _ of [1, 2])
      expect(await post(TaskService.method.createTask, body)).toEqual({
        status: 400,
        code: 'invalid_argument',
        reason: 'unknown_field',
        field: 'idempotencykey',
        message: 'idempotencykey is not a field of CreateTaskRequest; did you mean idempotency_key (idempotencyKey)',
      });

    expect((await tasks.listTasks({ accountId: 'demo' })).tasks).toHaveLength(earlier.length);
    expect(await accounts.getAccount({ id: 'demo' })).toEqual(before);
  });

  test('with both spellings of its key is refused', async () => {
    const body = JSON.stringify({ accountId: 'demo', idempotency_key: 'a', idempotencyKey: 'b' });

    expect(await post(TaskService.method.createTask, body)).toMatchObject({
      field: 'idempotency_key',
      message: 'idempotency_key is given twice, as idempotency_key and as idempotencyKey; send it once',
    });
  });
});

describe('a refusal of an order names the field by its path in the contract', () => {
  const image = { media: { kind: 'MEDIA_KIND_IMAGE', role: 'MEDIA_ROLE_FIRST_FRAME' } };

  test.each([
    ['order.duration', orderJson({ duration: 99 })],
    ['order.content[1].media.url', orderJson({ content: [{ text: 'a' }, image] })],
    ['order.content[1].media.role', orderJson({ content: [{ text: 'a' }, { media: { kind: 'MEDIA_KIND_VIDEO' } }] })],
    ['order.model', orderJson({ model: 'none' })],
  ])('%s', async (field, order) => {
    for (const method of [TaskService.method.checkOrder, TaskService.method.createTask])
      expect(await post(method, JSON.stringify({ accountId: 'demo', tokenId, order }))).toMatchObject({ field });
  });
});

describe('a value that the contract does not name', () => {
  const { listTasks, checkOrder } = TaskService.method;
  const unknownRole = { media: { kind: 'MEDIA_KIND_IMAGE', url: 'https://a.example/a.png', role: 'FIRST_FRAME' } };

  test.each([
    [
      'a word in a list',
      listTasks,
      { accountId: 'demo', states: ['DONE'] },
      'states[0]',
      'has the unknown value "DONE"',
    ],
    ['a number in a list', listTasks, { accountId: 'demo', states: [99] }, 'states[0]', 'has the unknown value 99'],
    [
      'a role in an order',
      checkOrder,
      { accountId: 'demo', order: orderJson({ content: [{ text: 'a' }, unknownRole] }) },
      'order.content[1].media.role',
      'has the unknown value "FIRST_FRAME"; must be one of MEDIA_ROLE_FIRST_FRAME, MEDIA_ROLE_LAST_FRAME',
    ],
  ])('is refused by its name in JSON: %s', async (_what, method, request, field, said) => {
    const refused = await post(method, JSON.stringify(request));

    expect(refused).toMatchObject({ status: 400, code: 'invalid_argument', reason: 'invalid_request', field });
    expect(refused.message).toContain(`${field} ${said}`);
  });

  test.each([
    ['in a list', listTasks, { accountId: 'demo', states: [99] }, 'states[0]'],
    [
      'in an order',
      checkOrder,
      {
        accountId: 'demo',
        order: anEndlessOrder({ content: [{ item: { case: 'media', value: { kind: 1, role: 99 } } }] }),
      },
      'order.content[0].media.role',
    ],
  ])('is refused by its number over gRPC: %s', async (_what, method, request, field) => {
    const outcome = await callGrpc(program.config.tasks.listen, { method, request, key: callerKey('pipeline') });

    expect(outcome).toMatchObject({ code: INVALID_ARGUMENT, field });
    expect(outcome.message).toContain(`${field} has the unknown value 99; must be one of `);
  });
});

describe.each(SERVICES)('the JSON port of %s', (service) => {
  const url = (path: string): string => `http://${program.config[service].http}${path}`;
  const path = '/reelgate.diagnosis.v1.DiagnosisService/Diagnose';

  test('names the services and the RPCs that it has', async () => {
    const [none, misspelt] = [
      await fetch(url('/reelgate.none.v1.NoService/Get'), { method: 'POST' }),
      await fetch(url('/reelgate.diagnosis.v1.DiagnosisService/diagnose'), { method: 'POST' }),
    ];

    expect([none.status, misspelt.status]).toEqual([404, 404]);
    expect(await none.json()).toEqual({
      code: 'unimplemented',
      message: expect.stringContaining(`reelgate.${service}.v1.`),
    });
    expect(await misspelt.json()).toEqual({
      code: 'unimplemented',
      message: 'reelgate.diagnosis.v1.DiagnosisService has no RPC "diagnose"; did you mean Diagnose',
    });
  });

  test('says which method and which content type it takes', async () => {
    const [verb, type] = [
      await fetch(url(path)),
      await fetch(url(path), { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{}' }),
    ];

    expect([verb.status, verb.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await verb.json()).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('POST') });
    expect([type.status, type.headers.get('accept-post')]).toEqual([415, 'application/json, application/proto']);
    expect(await type.json()).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('application/json and application/proto'),
    });
  });
});

test('a stream says which content types it takes', async () => {
  const response = await fetch(`http://${program.config.tasks.http}/reelgate.tasks.v1.TaskService/WatchTask`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });

  expect([response.status, response.headers.get('accept-post')]).toEqual([
    415,
    'application/connect+json, application/connect+proto',
  ]);
});
