import { createServer } from 'node:http2';
import type { Http2Server, ServerHttp2Stream } from 'node:http2';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { BillingService as BillingContract } from '@reelgate/proto/billing/v1/billing_service';
import { TaskService as TaskContract } from '@reelgate/proto/tasks/v1/task_service';
import { openCuttableLine } from '../../../../test/harness/cuttable-line.ts';
import type { CuttableLine } from '../../../../test/harness/cuttable-line.ts';
import { catchRefusal } from '../../testing/refusals.ts';
import { partialService } from '../../testing/partial-service.ts';
import { CALLERS } from '../../testing/rpc-transports.ts';
import { until } from '../../testing/until.ts';
import { unruled } from '../../testing/unruled.ts';
import { systemClock } from '../clock.ts';
import { silentLog } from '../log.ts';
import { Problem } from '../problem.ts';
import { Secret } from '../secret.ts';
import { serviceUnavailable } from '../service-unavailable.ts';
import { identifyAmong } from './callers.ts';
import { connectGrpc } from './grpc/client.ts';
import type { GrpcConnection } from './grpc/client.ts';
import { startGrpcServer } from './grpc/server.ts';
import { newAllowance, readRepeatable } from './repeats.ts';
import type { Client } from './service.ts';

const TaskService = unruled(TaskContract);
const BillingService = unruled(BillingContract);
const REPEATING_MAX = 500;
const KEY = 'key-of-the-program';

let ends: (() => unknown)[];
beforeEach(() => {
  ends = [];
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Replicas {
  readonly tasks: Client<typeof TaskService>;
  readonly billing: Client<typeof BillingService>;
  readonly lines: readonly CuttableLine[];
  /** The replica of each run of a method, in order. */
  readonly seen: number[];
  /** What each method does, with the number of its run and its replica. */
  during: (run: number, replica: number) => Promise<void>;
}

/** Two replicas, each behind a line of its own that a test can cut. */
async function openReplicas(): Promise<Replicas> {
  const seen: number[] = [];
  const run = async (replica: number): Promise<void> => {
    seen.push(replica);
    await replicas.during(seen.length, replica);
  };
  const lines = await Promise.all(
    [0, 1].map(async (replica) => {
      const note = async (): Promise<object> => {
        await run(replica);
        return {};
      };
      const server = await startGrpcServer({
        listen: { host: '127.0.0.1', port: 0 },
        bindings: [
          partialService(TaskService, {
            getTask: note,
            createTask: note,
            cancelTask: note,
            async *watchTask(_request, { signal }) {
              await run(replica);
              yield { cursor: 'first' };
              await once(signal, 'abort');
            },
          }),
          partialService(BillingService, { placeHold: note }),
        ],
        identify: identifyAmong(CALLERS),
        log: silentLog,
      });
      ends.push(() => server.stop());
      const line = await openCuttableLine(`http://127.0.0.1:${server.port}`);
      ends.push(() => line.stop());
      return line;
    }),
  );
  const grpc = connect(`ipv4:${lines.map(({ url }) => new URL(url).host).join(',')}`);
  const replicas: Replicas = {
    tasks: grpc.client(TaskService),
    billing: grpc.client(BillingService),
    lines,
    seen,
    during: async () => undefined,
  };
  await grpc.ready(10_000);
  await until(async () => {
    await replicas.tasks.getTask({});
    return new Set(seen).size === lines.length;
  });
  seen.length = 0;
  return replicas;
}

function connect(target: string): GrpcConnection {
  const grpc = connectGrpc(target, new Secret(KEY));
  ends.push(() => {
    grpc.close();
  });
  return grpc;
}

type Call = (replicas: Replicas) => Promise<unknown>;

const CUT: readonly (readonly [string, Call, number])[] = [
  ['a read', ({ tasks }) => tasks.getTask({}), 2],
  ['a create with its key', ({ tasks }) => tasks.createTask({ idempotencyKey: 'key' }), 2],
  ['a call that names what it makes', ({ billing }) => billing.placeHold({ taskId: 'task_1' }), 2],
  ['a stream before its first message', ({ tasks }) => firstOf(tasks.watchTask({})), 2],
  ['a create without a key', ({ tasks }) => tasks.createTask({}), 1],
  ['any other change', ({ tasks }) => tasks.cancelTask({}), 1],
];

const firstOf = async (messages: AsyncIterable<{ readonly cursor: string }>): Promise<string | undefined> => {
  for await (const { cursor } of messages) return cursor;
  return undefined;
};

describe('a call whose replica is gone while its method runs', () => {
  test.each(CUT)('%s', async (_what, call, runs) => {
    const replicas = await openReplicas();
    replicas.during = async (run, replica) => {
      if (run === 1) replicas.lines[replica]?.cut();
    };

    const ended = await call(replicas).then(
      () => 'answered',
      (error: unknown) => (error as Problem).reason,
    );

    expect(ended).toBe(runs === 1 ? 'service_unavailable' : 'answered');
    expect(replicas.seen).toHaveLength(runs);
    expect(new Set(replicas.seen).size).toBe(runs);
  });

  test('a stream after its first message ends, and its reader decides', async () => {
    const replicas = await openReplicas();
    const got: string[] = [];

    const refusal = await catchRefusal(
      (async () => {
        for await (const { cursor } of replicas.tasks.watchTask({})) {
          got.push(cursor);
          for (const line of replicas.lines) line.cut();
        }
      })(),
    );

    expect([refusal.reason, got, replicas.seen.length]).toEqual(['service_unavailable', ['first'], 1]);
  });

  test('is not made again after its own refusal, however that reads', async () => {
    const replicas = await openReplicas();
    replicas.during = async () => {
      throw serviceUnavailable(new Error('Connection dropped'), 1000);
    };

    await catchRefusal(replicas.tasks.getTask({}));

    expect(replicas.seen).toHaveLength(1);
  });
});

describe('a call while no replica is connected', () => {
  test('is made once one is, and only once, also if it makes something', async () => {
    const replicas = await openReplicas();
    for (const line of replicas.lines) line.cut();
    await catchRefusal(replicas.tasks.cancelTask({}, { timeoutMs: 20 }));
    const creating = replicas.tasks.createTask({});
    replicas.lines[0]?.mend();
    await creating;

    expect(replicas.seen).toEqual([0]);
  });

  test('is refused after a bounded number of tries', async () => {
    const replicas = await openReplicas();
    for (const line of replicas.lines) line.cut();

    expect(await catchRefusal(replicas.tasks.getTask({}))).toMatchObject({ reason: 'service_unavailable' });
    expect(replicas.seen).toEqual([]);
  });
});

const LOST = serviceUnavailable(new ConnectError('Connection dropped', Code.Unavailable));

describe('a repeat', () => {
  const bounds = { repeats: { count: 0 }, isRepeatable: () => true, signal: undefined, deadline: undefined };
  const isRefused = (allow: Promise<void>): Promise<boolean> =>
    allow.then(
      () => false,
      () => true,
    );

  test('is allowed seven times', async () => {
    const allow = newAllowance(bounds);
    const refused: boolean[] = [];
    for (let tries = 0; tries < 8; tries += 1) refused.push(await isRefused(allow(LOST)));

    expect(refused.indexOf(true)).toBe(7);
    expect(bounds.repeats.count).toBe(0);
  });

  test.each([
    ['its deadline comes first', { deadline: systemClock.now() }],
    ['its caller has left', { signal: AbortSignal.abort() }],
    ['too many calls of the connection wait for theirs', { repeats: { count: REPEATING_MAX } }],
  ])('is refused if %s', async (_why, changed) => {
    expect(await isRefused(newAllowance({ ...bounds, ...changed })(LOST))).toBe(true);
  });

  test.each([
    ['a passed deadline', serviceUnavailable(new ConnectError('Deadline exceeded', Code.DeadlineExceeded))],
    ['a refusal', new Problem({ kind: 'exhausted', reason: 'insufficient_quota', message: 'no' })],
    ['a fault here', new Error('Connection dropped')],
  ])('is refused after %s', async (_what, error) => {
    expect(await isRefused(newAllowance(bounds)(error))).toBe(true);
  });
});

test('a field that no request has does not make an RPC repeatable', () => {
  const { createTask, getTask } = TaskContract.method;

  expect(() => readRepeatable({ ...createTask, input: getTask.input })).toThrow('idempotency_key');
});

const [NO_ERROR, INTERNAL_ERROR, REFUSED_STREAM, CANCEL] = [0, 2, 7, 8];

/** A server whose first streams end with a code, and that answers all others with an empty message. */
async function serveBroken(code: number, broken: number): Promise<{ port: number; streams: () => number }> {
  const server: Http2Server = createServer();
  let streams = 0;
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => undefined);
    streams += 1;
    if (streams <= broken) {
      stream.close(code);
      return;
    }
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => {
      stream.sendTrailers({ 'grpc-status': '0' });
    });
    stream.end(Buffer.alloc(5));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => server.close());
  return { port: (server.address() as AddressInfo).port, streams: () => streams };
}

test.each([
  ['NO_ERROR', NO_ERROR],
  ['INTERNAL_ERROR', INTERNAL_ERROR],
  ['CANCEL', CANCEL],
  ['REFUSED_STREAM', REFUSED_STREAM],
])('a read whose stream the replica ends with %s is made again', async (_name, code = 0) => {
  const { port, streams } = await serveBroken(code, 3);

  await connect(`127.0.0.1:${port}`).client(TaskService).getTask({});

  expect(streams()).toBe(4);
});
