import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { create, toBinary } from '@bufbuild/protobuf';
import { GetTaskRequestSchema, WatchTaskRequestSchema } from '@reelgate/proto/tasks/v1/task_service';
import { httpCaller } from '../harness/client.ts';
import { KEYS, callerKey } from '../harness/test-config.ts';
import { startBareEcho } from './bare-grpc-echo.ts';
import { startBenchProgram } from './bench-program.ts';
import type { BenchProgram } from './bench-program.ts';
import { grpcLoad } from './grpc-load.ts';
import type { GrpcLoad } from './grpc-load.ts';
import { byTurns, median, ROUNDS } from './load.ts';
import type { Line } from './table.ts';

const STREAMS = 2000;
const TASKS = 200;
const ROUND_MS = 3000;
const IN_FLIGHT = 64;
const SETTLE_MS = 4000;
const KIB = 1024;
const GET_TASK = '/reelgate.tasks.v1.TaskService/GetTask';
const WATCH_TASK = '/reelgate.tasks.v1.TaskService/WatchTask';

/** Watches of tasks: what an open stream holds, and how fast a change reaches all; and GetTask beside a bare echo. */
export async function watchBench(): Promise<readonly Line[]> {
  const bench = await startBenchProgram('one program', { callbacks: true });
  const load = grpcLoad(bench.program.config.tasks.listen, callerKey('reporting'));
  try {
    const gets = await getTask(bench, load);
    const bytes = await memory(bench, load);
    const seen = await fanOut(bench, load);
    return [
      ...gets,
      {
        what: `memory of a stream, the first ${STREAMS}`,
        figure: bytes.first / KIB,
        unit: 'KiB',
        goal: '30 KiB',
      },
      { what: `memory of a stream, ${STREAMS} more`, figure: bytes.more / KIB, unit: 'KiB', goal: '30 KiB' },
      {
        what: `a change is seen by all ${STREAMS} streams after its callback`,
        figure: seen.allMs,
        unit: 'ms',
        goal: '500 ms',
      },
      { what: 'from the first to the last of them', figure: seen.spreadMs, unit: 'ms' },
    ];
  } finally {
    load.close();
    await bench.end();
  }
}

async function getTask(bench: BenchProgram, load: GrpcLoad): Promise<readonly Line[]> {
  const [taskId = ''] = await newTasks(bench, 1);
  const get = {
    path: GET_TASK,
    request: Buffer.from(toBinary(GetTaskRequestSchema, create(GetTaskRequestSchema, { accountId: 'demo', taskId }))),
  };
  const echo = await startBareEcho();
  const bare = grpcLoad(echo.address, callerKey('reporting'));
  try {
    const request = await load.once(get);
    const against = async (what: string, path: string): Promise<Line> => {
      await bare.unary({ path, request }, IN_FLIGHT, ROUND_MS);
      const { baseline, product } = await byTurns(
        ROUNDS,
        () => bare.unary({ path, request }, IN_FLIGHT, ROUND_MS),
        () => load.unary(get, IN_FLIGHT, ROUND_MS),
      );
      return { what, figure: product, unit: '/s', baseline, goal: '0.60' };
    };
    await load.unary(get, IN_FLIGHT, ROUND_MS);
    return [
      await against('GetTask, 64 in flight (baseline: a bare echo of messages)', '/bare.Echo/Messages'),
      await against('GetTask, 64 in flight (baseline: a bare echo of bytes)', '/bare.Echo/Bytes'),
    ];
  } finally {
    bare.close();
    echo.stop();
  }
}

/**
 * What the process of the server holds more for each stream: of the first ones, for which its heap grows for the first
 * time, and of as many more beside them.
 */
async function memory(bench: BenchProgram, load: GrpcLoad): Promise<{ first: number; more: number }> {
  const ids = await newTasks(bench, TASKS);
  const taskIds = Array.from({ length: STREAMS }, (_, index) => ids[index % TASKS]!);
  const settled = async (): Promise<number> => {
    await wait(SETTLE_MS);
    return residentBytes(bench);
  };
  const none = await settled();
  const first = await openStreams(load, taskIds);
  const some = await settled();
  const more = await openStreams(load, taskIds);
  const all = await settled();
  first.cancel();
  more.cancel();
  await wait(SETTLE_MS);
  return { first: (some - none) / STREAMS, more: (all - some) / STREAMS };
}

async function fanOut(bench: BenchProgram, load: GrpcLoad): Promise<{ allMs: number; spreadMs: number }> {
  const [all, spread]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const [taskId = ''] = await newTasks(bench, 1);
    const upstreamId = bench.upstream.ids.at(-1)!;
    // Until its first poll, which shows that it runs.
    await wait(SETTLE_MS);
    const streams = await openStreams(
      load,
      Array.from({ length: STREAMS }, () => taskId),
    );
    const start = performance.now();
    bench.upstream.fail(upstreamId);
    const times = await streams.next();
    all.push(Math.max(...times) - start);
    spread.push(Math.max(...times) - Math.min(...times));
  }
  return { allMs: median(all), spreadMs: median(spread) };
}

/** Resolves when each stream has had its first message. `next` gives the times of the second ones. */
async function openStreams(
  load: GrpcLoad,
  taskIds: readonly string[],
): Promise<{ next(): Promise<readonly number[]>; cancel(): void }> {
  const opened = taskIds.map((taskId) => {
    const request = toBinary(WatchTaskRequestSchema, create(WatchTaskRequestSchema, { accountId: 'demo', taskId }));
    const stream = load.stream({ path: WATCH_TASK, request: Buffer.from(request) });
    const [first, second] = [Promise.withResolvers<undefined>(), Promise.withResolvers<number>()];
    let messages = 0;
    stream.on('data', () => {
      messages += 1;
      if (messages === 1) first.resolve(undefined);
      else second.resolve(performance.now());
    });
    stream.on('error', first.reject);
    return { stream, first: first.promise, second: second.promise };
  });
  await Promise.all(opened.map(({ first }) => first));
  return {
    next: () => Promise.all(opened.map(({ second }) => second)),
    cancel: () => {
      for (const { stream } of opened) stream.cancel();
    },
  };
}

function newTasks(bench: BenchProgram, count: number): Promise<readonly string[]> {
  const caller = httpCaller(bench.program.base, KEYS.demo);
  return Promise.all(
    Array.from({ length: count }, () =>
      caller.create('/v1/videos', { model: 'Alpha-H3', prompt: 'a red boat', seconds: '5', size: '1280x720' }),
    ),
  );
}

/** As Linux counts it; NaN elsewhere. */
function residentBytes(bench: BenchProgram): number {
  if (process.platform !== 'linux') return Number.NaN;
  return bench.program
    .pids()
    .map((pid) => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * KIB)
    .reduce((sum, bytes) => sum + bytes, 0);
}
