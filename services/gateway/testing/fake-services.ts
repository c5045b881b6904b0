import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Problem } from '@reelgate/platform/problem';
import type { Client, Implementation } from '@reelgate/platform/rpc/service';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { partialService } from '@reelgate/platform/testing/partial-service';
import type { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { TokenLimitsSchema } from '@reelgate/proto/billing/v1/token_limits';
import { TokenRight } from '@reelgate/proto/billing/v1/token_right';
import { WebhookRight } from '@reelgate/proto/billing/v1/webhook_right';
import type { Order } from '@reelgate/proto/tasks/v1/order';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import { GetTaskTimelineResponseSchema, TaskService } from '@reelgate/proto/tasks/v1/task_service';
import type { ModelSchema } from '@reelgate/proto/tasks/v1/task_service';
import type { CheckOrderRequest, CreateTaskRequest, ListTasksRequest } from '@reelgate/proto/tasks/v1/task_service';
import type { MediaPort } from '../src/clients/media-port.ts';
import { aModel } from './a-model.ts';
import { aTask } from './a-task.ts';

/** A callback that was passed on. */
interface PassedCallback {
  readonly token: string;
  readonly upstreamTaskId: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A tasks service that accepts everything, keeps it in memory and records every call. */
export interface FakeTasks {
  readonly client: Client<typeof TaskService>;
  readonly calls: string[];
  readonly creates: CreateTaskRequest[];
  readonly checked: Order[];
  /** The orders that were checked before bytes were stored. */
  readonly checks: CheckOrderRequest[];
  readonly lists: ListTasksRequest[];
  /** The callbacks that were passed on. */
  readonly callbacks: readonly PassedCallback[];
  /** Readable tasks by `account/id`. */
  readonly tasks: Map<string, Task>;
  /** The models that any token may order from; Alpha-H3 at first. */
  readonly models: MessageInitShape<typeof ModelSchema>[];
  /** By the id of the task. */
  readonly timelines: Map<string, MessageInitShape<typeof GetTaskTimelineResponseSchema>>;
  /** Makes the next call of the method fail. */
  refuse(method: string, problem: Error): void;
}

export function fakeTasks(): FakeTasks {
  const calls: string[] = [];
  const creates: CreateTaskRequest[] = [];
  const checked: Order[] = [];
  const checks: CheckOrderRequest[] = [];
  const lists: ListTasksRequest[] = [];
  const callbacks: PassedCallback[] = [];
  const tasks = new Map<string, Task>();
  const models: FakeTasks['models'] = [aModel()];
  const timelines: FakeTasks['timelines'] = new Map();
  const refusals = new Map<string, Error>();
  const byKey = new Map<string, { readonly fingerprint: string; readonly task: Task }>();
  const called = (method: string): void => {
    calls.push(method);
    const refusal = refusals.get(method);
    refusals.delete(method);
    if (refusal !== undefined) throw refusal;
  };
  const find = (accountId: string, taskId: string): Task => {
    const task = tasks.get(`${accountId}/${taskId}`);
    if (task === undefined) throw new Problem({ kind: 'not_found', reason: 'task_not_found', message: 'no such task' });
    return task;
  };
  const earlierOf = ({
    accountId,
    idempotencyKey,
    requestFingerprint,
  }: Pick<CreateTaskRequest, 'accountId' | 'idempotencyKey' | 'requestFingerprint'>): Task | undefined => {
    const earlier = idempotencyKey === '' ? undefined : byKey.get(`${accountId} ${idempotencyKey}`);
    if (earlier !== undefined && earlier.fingerprint !== requestFingerprint)
      throw new Problem({
        kind: 'unprocessable',
        reason: 'idempotency_key_reused',
        message: 'this key was used with another body',
      });
    return earlier?.task;
  };
  const implementation: Partial<Implementation<typeof TaskService>> = {
    checkOrder: async (request) => {
      checks.push(request);
      called('checkOrder');
      if (request.order !== undefined) checked.push(request.order);
      const earlier = earlierOf(request);
      return earlier === undefined ? {} : { task: earlier };
    },
    estimateOrder: async ({ order }) => {
      called('estimateOrder');
      if (order !== undefined) checked.push(order);
      return { amountNanos: 400_000_000n, currency: 'USD', contract: 'Alpha-H3', version: 1, facts: { seconds: 5n } };
    },
    createTask: async (request) => {
      called('createTask');
      creates.push(request);
      const { order } = request;
      const earlier = earlierOf(request);
      if (earlier !== undefined) return { task: earlier, replayed: true };
      const task = aTask({
        id: `task_${String(creates.length).padStart(26, '0')}`,
        accountId: request.accountId,
        label: request.label,
        ...(order === undefined ? {} : { order }),
      });
      tasks.set(`${request.accountId}/${task.id}`, task);
      byKey.set(`${request.accountId} ${request.idempotencyKey}`, { fingerprint: request.requestFingerprint, task });
      return { task, replayed: false, ...(request.queue && { applied: request.queue }) };
    },
    listModels: async () => {
      called('listModels');
      return { models };
    },
    getTask: async ({ accountId, taskId }) => {
      called('getTask');
      return { task: find(accountId, taskId) };
    },
    listTasks: async (request) => {
      called('listTasks');
      lists.push(request);
      return {
        tasks: [...tasks.values()].filter((task) => isListed(task, request)),
        hasMore: false,
        total: BigInt(tasks.size),
        counted: tasks.size,
        countedAll: true,
      };
    },
    getTaskTimeline: async ({ accountId, taskId }) => {
      called('getTaskTimeline');
      find(accountId, taskId);
      return create(GetTaskTimelineResponseSchema, timelines.get(taskId));
    },
    cancelTask: async ({ accountId, taskId }) => {
      called('cancelTask');
      return { task: find(accountId, taskId) };
    },
    deleteTask: async ({ accountId, taskId }) => {
      called('deleteTask');
      find(accountId, taskId);
      tasks.delete(`${accountId}/${taskId}`);
      return { deletedAt: timestampFromMs(0) };
    },
    handleCallback: async ({ token, upstreamTaskId, body, headers }) => {
      called('handleCallback');
      callbacks.push({ token, upstreamTaskId, body: Buffer.from(body).toString(), headers });
      return {};
    },
  };
  return {
    client: directClient(TaskService, partialService(TaskService, implementation), aCaller()),
    calls,
    creates,
    checked,
    checks,
    lists,
    callbacks,
    tasks,
    models,
    timelines,
    refuse: (method, problem) => {
      refusals.set(method, problem);
    },
  };
}

function isListed(task: Task, { accountId, states, taskIds, label }: ListTasksRequest): boolean {
  return (
    task.accountId === accountId &&
    (label === '' || task.label === label) &&
    (states.length === 0 || states.includes(task.state)) &&
    (taskIds.length === 0 || taskIds.includes(task.id))
  );
}

export interface FakeBilling {
  readonly client: Pick<Client<typeof BillingService>, 'authenticate'>;
  readonly asked: string[];
  /** Thrown by every call, while it is set. */
  fault: Error | undefined;
  /** The principals by token. */
  readonly tokens: Map<
    string,
    {
      readonly accountId?: string;
      readonly tokenId?: string;
      readonly models?: string[];
      readonly expiresAtMs?: number;
      readonly disabled?: boolean;
      readonly limits?: FakeLimits;
      /** The nearest first. */
      readonly makers?: readonly { readonly tokenId: string; readonly limits?: FakeLimits }[];
      readonly webhooks?: WebhookRight;
      readonly tokens?: TokenRight;
      readonly label?: string;
      readonly confirmAboveNanos?: bigint;
    }
  >;
}

interface FakeLimits {
  readonly createsPerMinute?: number;
  readonly readsPerMinute?: number;
  readonly callsPerMinute?: number;
  readonly inFlight?: number;
}

const TOKEN_DEFAULTS = {
  accountId: 'demo',
  models: ['*'],
  makers: [],
  webhooks: WebhookRight.UNSPECIFIED,
  tokens: TokenRight.UNSPECIFIED,
  label: '',
};

export const TOKEN = 'rg_token-of-demo';

export function fakeBilling(): FakeBilling {
  const asked: string[] = [];
  const tokens: FakeBilling['tokens'] = new Map([[TOKEN, {}]]);
  const fake: FakeBilling = {
    asked,
    tokens,
    fault: undefined,
    client: {
      authenticate: async ({ key = '' }) => {
        asked.push(key);
        if (fake.fault !== undefined) throw fake.fault;
        const token = tokens.get(key);
        if (token === undefined)
          throw new Problem({ kind: 'unauthenticated', reason: 'invalid_api_key', message: 'this token is not known' });
        if (token.disabled === true)
          throw new Problem({ kind: 'forbidden', reason: 'token_disabled', message: 'this token is disabled' });
        const {
          accountId,
          tokenId = `token-${key}`,
          models,
          makers,
          expiresAtMs,
          limits,
          ...rights
        } = {
          ...TOKEN_DEFAULTS,
          ...token,
        };
        return {
          principal: {
            accountId,
            tokenId,
            models,
            makers,
            webhooks: rights.webhooks,
            tokens: rights.tokens,
            label: rights.label,
            confirmAboveNanos: token.confirmAboveNanos,
            ...(limits === undefined ? {} : { limits: create(TokenLimitsSchema, limits) }),
            ...(expiresAtMs === undefined ? {} : { expiresAt: timestampFromMs(expiresAtMs) }),
          },
        } as never;
      },
    },
  };
  return fake;
}

export interface FakeMedia {
  readonly port: MediaPort;
  readonly puts: { readonly accountId: string; readonly bytes: Buffer }[];
  /** The removed objects in order. */
  readonly removed: string[];
  readonly served: string[];
  /** The thumbnails by the object of their video. */
  readonly thumbnails: Map<string, Buffer>;
  /** The private objects. */
  readonly kept: Map<string, { readonly accountId: string; readonly bytes: Buffer; readonly keepMs: number }>;
}

export function fakeMedia(): FakeMedia {
  const puts: { accountId: string; bytes: Buffer }[] = [];
  const served: string[] = [];
  const removed: string[] = [];
  const kept: FakeMedia['kept'] = new Map();
  const thumbnails: FakeMedia['thumbnails'] = new Map();
  const send = async (response: ServerResponse, text: string): Promise<void> => {
    served.push(text);
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': Buffer.byteLength(text) }).end(text);
  };
  return {
    puts,
    served,
    kept,
    thumbnails,
    removed,
    port: {
      put: async (source, { accountId, bytesMax }) => {
        const chunks: Buffer[] = [];
        for await (const chunk of Buffer.isBuffer(source) ? Readable.from([source]) : source)
          chunks.push(chunk as Buffer);
        const bytes = Buffer.concat(chunks);
        if (bytes.length > bytesMax) throw new Error('more bytes came than were announced');
        puts.push({ accountId, bytes });
        return { object: `obj_${puts.length}`, bytes: bytes.length };
      },
      putPrivate: async (bytes, { accountId, keepMs, object = `prv_${kept.size + 1}` }) => {
        kept.set(object, { accountId, bytes, keepMs });
        return { object };
      },
      putFile: async (source, { accountId, id }) => {
        const chunks: Buffer[] = [];
        for await (const chunk of source) chunks.push(chunk as Buffer);
        const bytes = Buffer.concat(chunks);
        kept.set(id, { accountId, bytes, keepMs: 0 });
        return bytes.length;
      },
      remove: async (objects) => {
        removed.push(...objects);
        for (const object of objects) kept.delete(object);
      },
      read: async (object) => {
        const found = kept.get(object);
        return found === undefined ? undefined : Readable.from([found.bytes]);
      },
      readThumbnail: async (object) => {
        const found = thumbnails.get(object);
        return found === undefined ? undefined : Readable.from([found]);
      },
      serve: (_request: IncomingMessage, response, { object, fileName, direct }) =>
        send(response, `${object} ${fileName}${direct === true ? ' from here' : ''}`),
      serveLink: (request, response) => send(response, request.url ?? ''),
    },
  };
}
