import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadOwnAdapter } from '../../services/tasks/src/channels/own-adapters/load-own-adapter.ts';
import { writeTestRecord } from '../../services/tasks/src/channels/own-adapters/test-record.ts';
import { CHANNEL } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { createRequest, startBenchProgram } from './bench-program.ts';
import type { BenchProgram } from './bench-program.ts';
import { closedLoop, median, openLoop, quantile } from './load.ts';
import { linesOfPairs, roundPairs } from './rounds.ts';
import type { Subject } from './rounds.ts';
import type { Line } from './table.ts';

const NAME = 'alpha-own';
const GOAL = '1.5';
const WARM_UP_MS = 4000;
/** Creates that wait for one another tell what one takes; many at once, what the machine carries. */
const LOOPS = [
  { inFlight: 1, ms: 1500 },
  { inFlight: 32, ms: 1500 },
] as const;
const PACED = { perSecond: 100, ms: 4000 };

/** Creates through an adapter of an operator, in its sandbox, beside the same through a built-in one. */
export async function ownAdaptersBench(): Promise<readonly Line[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-bench-own-'));
  const programs: BenchProgram[] = [];
  try {
    const file = await writeTestedAdapter(folder);
    const own = await startBenchProgram('one program', { change: (config) => useAdapter(config, file) });
    programs.push(own);
    const builtIn = await startBenchProgram('one program');
    programs.push(builtIn);
    const sides = { baseline: toSubject(builtIn), product: toSubject(own) };
    for (const { target } of Object.values(sides)) await closedLoop(target, LOOPS[1].inFlight, WARM_UP_MS);
    const lines: Line[] = [];
    for (const loop of LOOPS) {
      const what = `create through an own adapter, ${loop.inFlight} in flight (baseline: alpha-v2)`;
      lines.push(...linesOfPairs(what, await roundPairs(sides, loop), GOAL));
    }
    return [...lines, ...(await pacedLines(sides))];
  } finally {
    for (const program of programs) await program.end();
    rmSync(folder, { recursive: true });
  }
}

/** Whether it passes the contract suite does not matter here. */
async function writeTestedAdapter(folder: string): Promise<string> {
  const file = path.join(folder, `${NAME}.ts`);
  cpSync(path.join(import.meta.dirname, 'own-adapter', `${NAME}.ts`), file);
  mkdirSync(path.join(folder, `${NAME}.fixtures`));
  const { adapter, facts, text } = await loadOwnAdapter(file);
  writeTestRecord(file, text, facts);
  await adapter.close();
  return file;
}

function useAdapter(config: TestConfig, file: string): TestConfig {
  const own = { adapter: NAME, endpoints: ['video.generation'], reconcile: 'none' };
  return {
    ...config,
    adapters: [file],
    channels: config.channels.map((channel) => (channel.id === CHANNEL ? { ...channel, ...own } : channel)),
  } as TestConfig;
}

function toSubject({ port, cpuMs }: BenchProgram): Subject {
  return { target: { port, request: createRequest }, cpuMs };
}

async function pacedLines({ baseline, product }: Readonly<Record<'baseline' | 'product', Subject>>): Promise<Line[]> {
  const measure = async ({ target }: Subject): Promise<readonly number[]> =>
    (await openLoop(target, PACED.perSecond, PACED.ms)).latencies;
  const [builtIn, own] = [await measure(baseline), await measure(product)];
  return [
    {
      what: `create through an own adapter, ${PACED.perSecond}/s: p50 (baseline: alpha-v2)`,
      figure: median([...own]),
      baseline: median([...builtIn]),
      unit: 'ms',
      goal: GOAL,
    },
    {
      what: `create through an own adapter, ${PACED.perSecond}/s: p99 (baseline: alpha-v2)`,
      figure: quantile(own, 0.99),
      baseline: quantile(builtIn, 0.99),
      unit: 'ms',
    },
  ];
}
