import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connectGrpc } from '@reelgate/platform/rpc/grpc/client';
import { Secret } from '@reelgate/platform/secret';
import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { httpCaller } from '../harness/client.ts';
import { anEndlessOrder } from '../harness/orders.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { listTokens } from '../harness/records.ts';
import { KEYS, UPSTREAM_KEY, callerKey } from '../harness/test-config.ts';

const START_TIMEOUT_MS = 120_000;
const CALLER_KEY = callerKey('pipeline');
/** The time of the upstream's answer to a create with `[late:…]`. */
const LATE_UPSTREAM_MS = 8000;
/** Only ends a test that hangs. */
const KNOWN_MS_MAX = 60_000;
const ASK_EVERY_MS = 100;

let sandbox: Sandbox;
let program: Program;

beforeAll(async () => {
  sandbox = await startSandbox({ listen: '127.0.0.1:0', key: UPSTREAM_KEY, render: async () => new Uint8Array(0) });
  program = await newProgram('one program', { upstream: new URL(sandbox.url).host });
  await program.start();
}, START_TIMEOUT_MS);

afterAll(async () => {
  await program?.end();
  await sandbox?.stop();
}, START_TIMEOUT_MS);

const create = async (accountId: string, over: object = {}) => ({
  accountId,
  tokenId: await aToken(),
  order: anEndlessOrder(over),
});

describe('an internal team calls the services over gRPC', () => {
  test('it gets refusals with typed details for orders, tasks and accounts that it may not use', async () => {
    const connection = connectGrpc(program.config.tasks.listen, new Secret(CALLER_KEY));
    try {
      const tasks = connection.client(TaskService);
      await expect(tasks.createTask(await create('other'))).rejects.toMatchObject({
        kind: 'forbidden',
        reason: 'account_not_allowed',
      });
      await expect(tasks.createTask(await create('demo', { duration: 99 }))).rejects.toMatchObject({
        kind: 'invalid',
        reason: 'invalid_duration',
        field: 'order.duration',
      });
      await expect(tasks.getTask({ accountId: 'demo', taskId: 'task_unknown' })).rejects.toMatchObject({
        kind: 'not_found',
        reason: 'task_not_found',
      });
      await expect(connection.client(OperatorService).listAttention({})).rejects.toMatchObject({ kind: 'forbidden' });
    } finally {
      connection.close();
    }
  });

  test('a call without a known key is refused', async () => {
    const connection = connectGrpc(program.config.billing.listen, new Secret('somebody-else'));
    try {
      await expect(connection.client(AccountService).getAccount({ id: 'demo' })).rejects.toMatchObject({
        kind: 'unauthenticated',
      });
    } finally {
      connection.close();
    }
  });

  test('the same RPC answers JSON with curl on the HTTP port', async () => {
    const call = (key: string) =>
      fetch(`http://${program.config.tasks.http}/reelgate.tasks.v1.TaskService/ListTasks`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ accountId: 'demo', limit: 5 }),
      });
    expect((await call(CALLER_KEY)).status).toBe(200);
    expect(await (await call('nobody')).json()).toMatchObject({ code: 'unauthenticated' });
  });
});

async function aToken(): Promise<string> {
  const [token] = await listTokens(program, 'demo');
  return token!.id;
}

describe('a caller that stops waiting', () => {
  test.each([1, 3, 10, 300])(
    'after %i ms gets the deadline error then, and its key has no task or one task',
    async (timeoutMs) => {
      const tasks = `http://${program.config.tasks.http}/reelgate.tasks.v1.TaskService`;
      const call = async (method: string, body: object, headers: Record<string, string> = {}) => {
        const response = await fetch(`${tasks}/${method}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${CALLER_KEY}`, ...headers },
          body: JSON.stringify(body),
        });
        return {
          status: response.status,
          json: (await response.json()) as {
            code?: string;
            replayed?: boolean;
            task?: { id: string };
            tasks?: { id: string }[];
          },
        };
      };
      const list = async () => (await call('ListTasks', { accountId: 'demo' })).json.tasks?.map(({ id }) => id) ?? [];
      const slow = {
        kind: 'TASK_KIND_GENERATION',
        model: 'Alpha-H3',
        content: [{ text: 'a red boat [late:8s] [never]' }],
        duration: 5,
        resolution: '768P',
        ratio: '16:9',
      };
      const request = {
        accountId: 'demo',
        tokenId: await aToken(),
        order: slow,
        idempotencyKey: `waits-${timeoutMs}`,
      };
      const before = await list();
      const asked = performance.now();

      const left = await call('CreateTask', request, { 'connect-timeout-ms': String(timeoutMs) });

      expect(left).toMatchObject({ status: 504, json: { code: 'deadline_exceeded' } });
      expect(performance.now() - asked).toBeLessThan(LATE_UPSTREAM_MS);
      // The running create holds the key until its answer is known.
      let again = await call('CreateTask', request);
      const bound = performance.now() + KNOWN_MS_MAX;
      for (
        ;
        again.json.code === 'failed_precondition' && performance.now() < bound;
        again = await call('CreateTask', request)
      )
        await wait(ASK_EVERY_MS);
      expect(again.status).toBe(200);
      expect((await list()).filter((id) => !before.includes(id))).toEqual([again.json.task?.id]);
    },
  );
});

describe('a list', () => {
  test('continues only after a task of the account, over HTTP and over gRPC', async () => {
    const demo = httpCaller(program.base, KEYS.demo);
    const connection = connectGrpc(program.config.tasks.listen, new Secret(CALLER_KEY));
    try {
      for (const after of ['task_06byh4ptrbv0000000000000000', 'first']) {
        expect(await demo.call('GET', `/v1/videos?after=${after}`)).toMatchObject({
          status: 400,
          json: { error: { code: 'invalid_request', param: 'after' } },
        });
        await expect(connection.client(TaskService).listTasks({ accountId: 'demo', after })).rejects.toMatchObject({
          kind: 'invalid',
          field: 'after',
        });
      }
    } finally {
      connection.close();
    }
  });
});
