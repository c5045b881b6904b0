// Makes a video with Connect, watches it to its end, and saves it as boat.mp4. `buf generate` wrote gen/.
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { AccountService } from './gen/reelgate/billing/v1/account_service_pb.js';
import { TaskKind } from './gen/reelgate/tasks/v1/order_pb.js';
import { TaskState } from './gen/reelgate/tasks/v1/task_pb.js';
import { TaskService } from './gen/reelgate/tasks/v1/task_service_pb.js';

const CALL_MS = 20_000;
const STREAM_MS = 300_000;
const [RETRY_MS, RETRY_MS_MAX] = [1000, 30_000];
const TRIES_MAX = 20;
// A connection that is cut is Aborted or Canceled.
const PASSING = [Code.Unavailable, Code.DeadlineExceeded, Code.Aborted, Code.Canceled];
const {
  REELGATE_ACCOUNT: accountId = 'demo',
  REELGATE_CALLER_KEY: key = '',
  REELGATE_BILLING: billingAddress = '127.0.0.1:9102',
  REELGATE_TASKS: tasksAddress = '127.0.0.1:9101',
} = process.env;

const headers = { authorization: `Bearer ${key}` };
const stream = { headers, timeoutMs: STREAM_MS };
const once = { headers, timeoutMs: CALL_MS };
const at = (address: string) => createGrpcTransport({ baseUrl: `http://${address}` });
const billing = createClient(AccountService, at(billingAddress));
const tasks = createClient(TaskService, at(tasksAddress));

/** Resolves with the answer. A call that fails with a fault that passes is tried again. */
async function call<Answer>(send: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send();
    } catch (error) {
      const { code } = ConnectError.from(error);
      // After a lost answer, a key is refused while its first create still runs.
      const isRunning = attempt > 1 && code === Code.FailedPrecondition;
      if (!(isRunning || PASSING.includes(code)) || attempt === TRIES_MAX) throw error;
      await wait(Math.min(attempt, 5) * RETRY_MS);
    }
  }
}

/**
 * Resolves with the task when it has ended. A stream that breaks or reaches its deadline is resumed where it was. The
 * loop has no limit of its own: the service ends each task, at the latest when its operator decides.
 */
async function watch(taskId: string) {
  let task;
  for (let cursor = '', waitMs = RETRY_MS; ;) {
    try {
      for await (const change of tasks.watchTask({ accountId, taskId, cursor }, stream)) {
        [cursor, waitMs] = [change.cursor, RETRY_MS];
        if (!change.task) continue; // a heartbeat
        task = change.task;
        console.log(`${TaskState[task.state]} ${task.progress} %`);
      }
      return task;
    } catch (error) {
      if (!PASSING.includes(ConnectError.from(error).code)) throw error;
      await wait(waitMs);
      waitMs = Math.min(2 * waitMs, RETRY_MS_MAX);
    }
  }
}

// A task belongs to a token of the account, whose models and limits it has.
const [token] = (await call(() => billing.listTokens({ accountId }, once))).tokens;
const create = {
  accountId,
  tokenId: token?.id ?? '',
  // With a key, a create whose answer was lost is sent again and makes no second video.
  idempotencyKey: `boat-${randomUUID()}`,
  order: {
    kind: TaskKind.GENERATION,
    model: 'Alpha-H3',
    content: [{ item: { case: 'text' as const, value: 'a red boat at dawn' } }],
    duration: 4,
    resolution: '768P',
    ratio: '16:9',
  },
};
const created = await call(() => tasks.createTask(create, once));
const task = await watch(created.task?.id ?? '');
if (task?.state !== TaskState.COMPLETED) throw new Error(`${task?.id} failed: ${task?.failure?.message}`);

await pipeline(
  tasks.getTaskContent({ accountId, taskId: task.id }, stream),
  async function* (messages) {
    // The first message has the facts.
    for await (const { part } of messages) if (part.case === 'data') yield part.value;
  },
  createWriteStream('boat.mp4'),
);
const { width, height, bytes } = task.result!;
console.log(`${task.id} is completed: ${width} x ${height}, ${bytes} bytes in boat.mp4`);
process.exit(); // the transports would keep their connections open for a while
