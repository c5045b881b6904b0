// Makes a video with @grpc/grpc-js, watches it to its end, and saves it as boat.mp4. It reads the contracts at run time.
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import * as grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

const CALL_MS = 20_000;
const STREAM_MS = 300_000;
const [RETRY_MS, RETRY_MS_MAX] = [1000, 30_000];
const TRIES_MAX = 20;
const PASSING = [grpc.status.UNAVAILABLE, grpc.status.DEADLINE_EXCEEDED];
const {
  REELGATE_ACCOUNT: account_id = 'demo',
  REELGATE_CALLER_KEY: key = '',
  REELGATE_BILLING: billingAddress = '127.0.0.1:9102',
  REELGATE_TASKS: tasksAddress = '127.0.0.1:9101',
  REELGATE_PROTO: proto = '../../../proto',
} = process.env;

const files = ['reelgate/billing/v1/account_service.proto', 'reelgate/tasks/v1/task_service.proto'];
const loaded = loadSync(files, { includeDirs: [proto], keepCase: true, longs: Number, enums: String });
const { reelgate }: any = grpc.loadPackageDefinition(loaded);
const insecure = grpc.credentials.createInsecure();
const billing = new reelgate.billing.v1.AccountService(billingAddress, insecure);
const tasks = new reelgate.tasks.v1.TaskService(tasksAddress, insecure);
const caller = new grpc.Metadata();
caller.set('authorization', `Bearer ${key}`);

/** Resolves with the answer. A call that fails with a fault that passes is tried again. */
async function call(service: any, method: string, request: object): Promise<any> {
  const send: any = promisify(service[method].bind(service));
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send(request, caller, { deadline: Date.now() + CALL_MS });
    } catch (error: any) {
      // After a lost answer, a key is refused while its first create still runs.
      const isRunning = attempt > 1 && error.code === grpc.status.FAILED_PRECONDITION;
      if (!(isRunning || PASSING.includes(error.code)) || attempt === TRIES_MAX) throw error;
      await wait(Math.min(attempt, 5) * RETRY_MS);
    }
  }
}

const streamDeadline = () => ({ deadline: Date.now() + STREAM_MS });

/**
 * Resolves with the task when it has ended. A stream that breaks or reaches its deadline is resumed where it was. The
 * loop has no limit of its own: the service ends each task, at the latest when its operator decides.
 */
async function watch(task: any): Promise<any> {
  for (let cursor = '', waitMs = RETRY_MS; ;) {
    try {
      for await (const change of tasks.WatchTask({ account_id, task_id: task.id, cursor }, caller, streamDeadline())) {
        [cursor, waitMs] = [change.cursor, RETRY_MS];
        if (!change.task) continue; // a heartbeat
        task = change.task;
        console.log(`${task.state} ${task.progress} %`);
      }
      return task;
    } catch (error: any) {
      if (!PASSING.includes(error.code)) throw error;
      await wait(waitMs);
      waitMs = Math.min(2 * waitMs, RETRY_MS_MAX);
    }
  }
}

// A task belongs to a token of the account, whose models and limits it has.
const { tokens } = await call(billing, 'ListTokens', { account_id });
const { task: created } = await call(tasks, 'CreateTask', {
  account_id,
  token_id: tokens[0].id,
  // With a key, a create whose answer was lost is sent again and makes no second video.
  idempotency_key: `boat-${randomUUID()}`,
  order: {
    kind: 'TASK_KIND_GENERATION',
    model: 'Alpha-H3',
    content: [{ text: 'a red boat at dawn' }],
    duration: 4,
    resolution: '768P',
    ratio: '16:9',
  },
});
const task = await watch(created);
if (task.state !== 'TASK_STATE_COMPLETED') throw new Error(`${task.id} failed: ${task.failure?.message}`);

const pieces: Readable = tasks.GetTaskContent({ account_id, task_id: task.id }, caller, streamDeadline());
await pipeline(
  pieces,
  async function* (messages: AsyncIterable<any>) {
    // The first message has the facts.
    for await (const { data } of messages) if (data) yield data;
  },
  createWriteStream('boat.mp4'),
);
const { width, height, bytes } = task.result;
console.log(`${task.id} is completed: ${width} x ${height}, ${bytes} bytes in boat.mp4`);
billing.close();
tasks.close();
