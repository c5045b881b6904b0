import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import OpenAI, { toFile } from 'openai';
import { KEYS } from '../harness/test-config.ts';
import { createRequest, startBenchProgram } from './bench-program.ts';
import type { BenchProgram } from './bench-program.ts';
import { inTurns, median, openLoop, quantile } from './load.ts';
import type { Line } from './table.ts';

const LINES = 50_000;
const ROUNDS = 3;
/** The creates of other clients. */
const PER_SECOND = 40;
const ALONE_MS = 20_000;
const POLL_MS = 250;
const TIMEOUT_MS = 300_000;
const ACCEPTED_GOAL_S = 60;
const SLOWER_GOAL = '1.10';
const MIB = 1024 * 1024;

/** A batch of 50,000 lines beside the creates of other clients. The baseline is the same creates alone. */
export async function batchBench(): Promise<readonly Line[]> {
  const bench = await startBenchProgram('one program', {
    tasks: { batch: { in_flight: 1, per_account: 1000 } },
    change: (config) => ({
      ...config,
      gateway: { ...config.gateway, batches: true },
      media: { ...config.media, files: { max_bytes: '200MiB', per_account: '2GiB' } },
    }),
  });
  try {
    const client = new OpenAI({ apiKey: KEYS.other, baseURL: `${bench.program.base}/v1`, maxRetries: 0 });
    const fileId = await upload(client);
    const before = readPeakMib(bench);
    const { alone, beside } = await inTurns<'alone' | 'beside', BatchRound>(ROUNDS, {
      alone: async () => ({ ...(await loadFor(bench, ALONE_MS)), acceptedMs: 0, endMs: 0 }),
      beside: () => batchRound(bench, client, fileId),
    });
    const p99 = (round: { readonly latencies: readonly number[] }): number => quantile(round.latencies, 0.99);
    const what = `a batch of ${LINES} lines`;
    return [
      {
        what: `${what}: until they are durable, beside ${PER_SECOND} creates a second`,
        figure: median(beside.map(({ acceptedMs }) => acceptedMs)) / 1000,
        unit: 's',
        goal: `under ${ACCEPTED_GOAL_S} s`,
      },
      {
        what: `${what}: p99 of the creates meanwhile`,
        figure: median(beside.map(p99)),
        baseline: median(alone.map(p99)),
        ratio: median(beside.map((round, index) => p99(round) / p99(alone[index]!))),
        unit: 'ms',
        goal: SLOWER_GOAL,
      },
      {
        what: `${what}: from its cancel to its error file`,
        figure: median(beside.map(({ endMs }) => endMs)) / 1000,
        unit: 's',
      },
      { what: `${what}: peak memory of the program`, figure: readPeakMib(bench), baseline: before, unit: 'MiB' },
    ];
  } finally {
    await bench.end();
  }
}

async function upload(client: OpenAI): Promise<string> {
  const lines = Array.from({ length: LINES }, (_none, index) =>
    JSON.stringify({
      custom_id: `order-${index}`,
      method: 'POST',
      url: '/v1/videos',
      body: {
        model: 'Alpha-H3',
        prompt: `a red boat at dawn, number ${index}; ${'the camera glides over the water. '.repeat(10)}`,
        seconds: '5',
        size: '1280x720',
      },
    }),
  );
  const file = await toFile(Buffer.from(lines.join('\n')), 'orders.jsonl');
  return (await client.files.create({ file, purpose: 'batch' })).id;
}

interface LoadRound {
  readonly latencies: readonly number[];
}

interface BatchRound extends LoadRound {
  readonly acceptedMs: number;
  readonly endMs: number;
}

/** Reads the file of a batch while other clients create, and cancels the batch. */
async function batchRound(bench: BenchProgram, client: OpenAI, fileId: string): Promise<BatchRound> {
  const startedAt = performance.now();
  const { id } = await client.batches.create({
    input_file_id: fileId,
    endpoint: '/v1/videos',
    completion_window: '24h',
  });
  let acceptedMs = Number.NaN;
  const accepted = waitFor(client, id, 'in_progress').then(() => {
    acceptedMs = performance.now() - startedAt;
  });
  const latencies: number[] = [];
  while (Number.isNaN(acceptedMs)) latencies.push(...(await loadFor(bench, 1000)).latencies);
  await accepted;
  const cancelledAt = performance.now();
  await client.batches.cancel(id);
  for (const task of bench.upstream.ids) bench.upstream.fail(task);
  await waitFor(client, id, 'cancelled');
  return { latencies, acceptedMs, endMs: performance.now() - cancelledAt };
}

async function waitFor(client: OpenAI, id: string, status: OpenAI.Batch['status']): Promise<void> {
  const until = performance.now() + TIMEOUT_MS;
  for (;;) {
    const batch = await client.batches.retrieve(id);
    if (batch.status === status) return;
    if (performance.now() > until) throw new Error(`the batch stays ${batch.status}`);
    await wait(POLL_MS);
  }
}

function loadFor({ port }: BenchProgram, ms: number): Promise<LoadRound> {
  return openLoop({ port, request: () => createRequest() }, PER_SECOND, ms);
}

/** The most memory that the program has had; NaN on other systems than Linux. */
function readPeakMib({ program }: BenchProgram): number {
  if (process.platform !== 'linux') return Number.NaN;
  const [pid] = program.pids();
  const peak = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid ?? 0}/status`, 'utf8'))?.[1];
  return (Number(peak) * 1024) / MIB;
}
