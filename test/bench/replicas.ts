import { create, toBinary } from '@bufbuild/protobuf';
import { openPostgres } from '@reelgate/platform/sql/postgres';
import type { Sql } from '@reelgate/platform/sql/sql';
import { createDatabase } from '@reelgate/platform/testing/create-database';
import { CreateTaskRequestSchema } from '@reelgate/proto/tasks/v1/task_service';
import { anEndlessOrder } from '../harness/orders.ts';
import { startTasksReplica } from '../harness/replica.ts';
import type { Replica } from '../harness/replica.ts';
import { callerKey } from '../harness/test-config.ts';
import { natsServer } from '../servers/nats-server.ts';
import { postgresServer } from '../servers/postgres-server.ts';
import { cpuMsOf, startBenchProgram } from './bench-program.ts';
import type { BenchProgram } from './bench-program.ts';
import { grpcLoad } from './grpc-load.ts';
import type { GrpcLoad } from './grpc-load.ts';
import { lockedShare } from './locked-share.ts';
import { openSlowLine } from './slow-line.ts';
import type { Line } from './table.ts';
import { listTokens } from '../harness/records.ts';

/** The line is slow enough that waiting bounds the creates, and not the processor. */
const ONE_WAY_MS = 30;
/** Few connections, so that they bound a process. */
const TASKS = { postgres: { connections: 6 }, poll: { first: '60s', factor: 1, max: '60s' } };
const IN_FLIGHT = 48;
const WARM_UP_MS = 4000;
const ROUND_MS = 10_000;
const CREATE_TASK = '/reelgate.tasks.v1.TaskService/CreateTask';

interface Round {
  readonly perSecond: number;
  /** The share of the busy connections that wait for locks. */
  readonly locked: number;
  readonly cpuUs: number;
}

/** Creates of one token on one and on two processes of tasks, over a slow line to PostgreSQL. */
export async function replicasBench(): Promise<readonly Line[]> {
  const what = 'create, two processes of tasks (baseline: one)';
  const reason = natsServer.missing() ?? postgresServer.missing();
  if (reason !== undefined) return [{ what, skipped: reason }];
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const nats = (await natsServer.start())!;
    ends.push(() => nats.stop());
    const postgres = (await postgresServer.start())!;
    ends.push(() => postgres.stop());
    const database = await createDatabase(postgres.url, 'tasks');
    const line = await openSlowLine(database, ONE_WAY_MS);
    ends.push(() => line.stop());
    const bench = await startBenchProgram('four processes', {
      bus: nats.url,
      databases: { tasks: line.url },
      tasks: TASKS,
    });
    ends.push(() => bench.end());
    const replica = await startTasksReplica(bench.program);
    ends.push(() => replica.stop());
    const direct = openPostgres(database, { connections: 1 });
    ends.push(() => direct.close());
    return await measured(bench, replica, direct, what);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

async function measured(bench: BenchProgram, replica: Replica, database: Sql, what: string): Promise<readonly Line[]> {
  const key = callerKey('pipeline');
  const first = grpcLoad(bench.program.config.tasks.listen, key);
  const second = grpcLoad(replica.listen, key);
  const request = await requestOf(bench);
  const pids = [bench.program.pids()[2]!, replica.pid];
  const round = async (loads: readonly GrpcLoad[], ms: number): Promise<Round> => {
    const [before, ended] = [cpuOf(pids), new AbortController()];
    const sampling = lockedShare(database, ended.signal);
    const rates = await Promise.all(
      loads.map((load) => load.unary({ path: CREATE_TASK, request }, IN_FLIGHT / loads.length, ms)),
    ).finally(() => {
      ended.abort();
    });
    const perSecond = rates.reduce((sum, rate) => sum + rate, 0);
    const cpuUs = ((cpuOf(pids) - before) * 1000) / ((perSecond * ms) / 1000);
    return { perSecond, locked: await sampling, cpuUs };
  };
  try {
    await round([first, second], WARM_UP_MS);
    const one = await round([first], ROUND_MS);
    const two = await round([first, second], ROUND_MS);
    return [
      { what, figure: two.perSecond, unit: '/s', baseline: one.perSecond, goal: '1.7' },
      {
        what: 'busy connections that wait for locks',
        figure: 100 * two.locked,
        unit: '%',
        baseline: 100 * one.locked,
      },
      { what: 'processor time for each create', figure: two.cpuUs, unit: 'us', baseline: one.cpuUs },
    ];
  } finally {
    first.close();
    second.close();
  }
}

async function requestOf({ program }: BenchProgram): Promise<Buffer> {
  const [token] = await listTokens(program, 'demo');
  return Buffer.from(
    toBinary(
      CreateTaskRequestSchema,
      create(CreateTaskRequestSchema, { accountId: 'demo', tokenId: token!.id, order: anEndlessOrder() }),
    ),
  );
}

const cpuOf = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + cpuMsOf(pid), 0);
