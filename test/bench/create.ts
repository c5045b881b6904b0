import { createDatabase } from '@reelgate/platform/testing/create-database';
import { natsServer } from '../servers/nats-server.ts';
import { postgresServer } from '../servers/postgres-server.ts';
import { cpuMsOf, createRequest, startBenchProgram } from './bench-program.ts';
import type { BenchProgram } from './bench-program.ts';
import { closedLoop, inTurns, median, openLoop, quantile, ROUNDS } from './load.ts';
import { startKoaPosts } from './koa-posts.ts';
import { startPrototype } from './prototype.ts';
import type { Line } from './table.ts';
import { writtenBytesOf } from './written-bytes.ts';

const IN_FLIGHT = 64;
const ROUND_MS = 2000;
const WARM_UP_MS = 3000;
const PACED_WARM_UP_IN_FLIGHT = 16;
const PACED_WARM_UP_MS = 1500;
const PACED_MS = 5000;

/** Durable creates without media, with all services in one process. */
export async function createBench(): Promise<readonly Line[]> {
  const bench = await startBenchProgram('one program');
  try {
    // The paced calls come first, before tens of thousands of tasks are polled beside them.
    const paced = await pacedLines(bench, { what: 'create, 500/s', perSecond: 500, goal: 'under 15 ms' });
    return [...(await closedLines(bench, { what: 'create, one program, 64 in flight', goal: '0.45' })), ...paced];
  } finally {
    await bench.end();
  }
}

/** Durable creates without media, with four processes that call one another over gRPC and keep all in PostgreSQL. */
export async function grpcCreateBench(): Promise<readonly Line[]> {
  const what = 'create, four processes, gRPC and PostgreSQL';
  const missing = natsServer.missing() ?? postgresServer.missing();
  if (missing !== undefined) return [{ what, skipped: missing }];
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const nats = (await natsServer.start())!;
    ends.push(() => nats.stop());
    const postgres = (await postgresServer.start())!;
    ends.push(() => postgres.stop());
    const databases = {
      tasks: await createDatabase(postgres.url, 'tasks'),
      billing: await createDatabase(postgres.url, 'billing'),
      media: await createDatabase(postgres.url, 'media'),
    };
    const bench = await startBenchProgram('four processes', { bus: nats.url, databases });
    ends.push(() => bench.end());
    const paced = await pacedLines(bench, { what: `${what}, 100/s`, perSecond: 100, goal: 'under 50 ms' });
    return [...(await closedLines(bench, { what: `${what}, 64 in flight`, goal: '0.12' })), ...paced];
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

interface Paced {
  readonly what: string;
  readonly perSecond: number;
  /** Of the p99. */
  readonly goal: string;
}

async function pacedLines(bench: BenchProgram, { what, perSecond, goal }: Paced): Promise<readonly Line[]> {
  const target = { port: bench.port, request: createRequest };
  await closedLoop(target, PACED_WARM_UP_IN_FLIGHT, PACED_WARM_UP_MS);
  const { latencies } = await openLoop(target, perSecond, PACED_MS);
  return [
    { what: `${what}: p50`, figure: quantile(latencies, 0.5), unit: 'ms' },
    { what: `${what}: p99`, figure: quantile(latencies, 0.99), unit: 'ms', goal },
  ];
}

interface Round {
  readonly perSecond: number;
  readonly cpuUs: number;
  readonly writtenKb: number;
}

const KOA_SIDES = [
  ['koa', 'a Koa route'],
  ['posting', 'a Koa route that posts it on'],
] as const;

/**
 * Beside programs that do less: one of Koa calls nothing, the other one posts the order to the same upstream, and both
 * keep nothing. The prototype calls nothing, and keeps one row for each create.
 */
async function closedLines(
  bench: BenchProgram,
  { what, goal }: { readonly what: string; readonly goal: string },
): Promise<readonly Line[]> {
  const koa = await startKoaPosts();
  const posting = await startKoaPosts(bench.upstream.host);
  const prototype = await startPrototype();
  try {
    await closedLoop({ port: bench.port, request: createRequest }, IN_FLIGHT, WARM_UP_MS);
    await closedLoop({ port: koa.port, request: createRequest }, IN_FLIGHT, WARM_UP_MS);
    await closedLoop({ port: posting.port, request: createRequest }, IN_FLIGHT, WARM_UP_MS);
    const rounds = await inTurns(ROUNDS, {
      koa: () => round({ port: koa.port, pids: [koa.pid] }),
      posting: () => round({ port: posting.port, pids: [posting.pid] }),
      prototype: () => round({ port: prototype.port, pids: [] }),
      product: () => round({ port: bench.port, pids: bench.program.pids() }),
    });
    const of = (side: keyof typeof rounds, name: keyof Round): number => median(rounds[side].map((one) => one[name]));
    const besideKoa = (words: string, name: 'perSecond' | 'cpuUs', more: { unit: string; goal?: string }): Line[] =>
      KOA_SIDES.map(([side, called]) => ({
        what: `${words} (baseline: ${called})`,
        figure: of('product', name),
        baseline: of(side, name),
        ...more,
      }));
    // The processor time and the bytes include the polls of all tasks that run at that time.
    return [
      ...besideKoa(what, 'perSecond', { unit: '/s', goal }),
      {
        what: `${what} (baseline: one row in SQLite)`,
        figure: of('product', 'perSecond'),
        unit: '/s',
        baseline: of('prototype', 'perSecond'),
      },
      ...besideKoa('processor time for each of them', 'cpuUs', { unit: 'us' }),
      {
        what: 'written to the disk for each of them, without a database server',
        figure: of('product', 'writtenKb'),
        unit: 'KB',
        goal: 'up to 10 KB',
      },
    ];
  } finally {
    koa.stop();
    posting.stop();
    prototype.stop();
  }
}

async function round({ port, pids }: { readonly port: number; readonly pids: readonly number[] }): Promise<Round> {
  const sum = (of: (pid: number) => number): number => pids.reduce((total, pid) => total + of(pid), 0);
  const before = { cpuMs: sum(cpuMsOf), bytes: sum(writtenBytesOf) };
  const { perSecond, latencies } = await closedLoop({ port, request: createRequest }, IN_FLIGHT, ROUND_MS);
  return {
    perSecond,
    cpuUs: ((sum(cpuMsOf) - before.cpuMs) * 1000) / latencies.length,
    writtenKb: (sum(writtenBytesOf) - before.bytes) / 1024 / latencies.length,
  };
}
