import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { SHAPES } from '../harness/program.ts';
import type { Program, ServiceProcess } from '../harness/program.ts';
import { natsServer } from '../servers/nats-server.ts';
import { startBareKoa } from './bare-koa.ts';
import { startBenchProgram } from './bench-program.ts';
import { inTurns, median, ROUNDS } from './load.ts';
import type { Line } from './table.ts';

const SERVICES = SHAPES['four processes'];
const LOOK_MS = 5;
const READY_MS_MAX = 60_000;
/** After this time a process that has no calls holds what it needs when it is idle. */
const IDLE_MS = 3000;
const KIB_PER_MIB = 1024;
/** That of `npm start`, with the compiled code of earlier starts. The start before the measured ones fills it. */
const ENVIRONMENT = {
  MALLOC_ARENA_MAX: '1',
  NODE_COMPILE_CACHE: path.join(import.meta.dirname, '../../node_modules/.cache/compiled'),
};

interface Start {
  readonly ms: number;
  readonly mib: number;
}

/**
 * Starts with existing stores, until `/readyz` says so, and the memory of an idle process. The baseline is bare Koa.
 */
export async function startsBench(): Promise<readonly Line[]> {
  return [...(await oneProgram()), ...(await eachService())];
}

async function oneProgram(): Promise<readonly Line[]> {
  const { program, end } = await startBenchProgram('one program', { environment: ENVIRONMENT });
  try {
    const rounds = await inTurns(ROUNDS, {
      baseline: bareStart,
      product: () => startOf(program, undefined, program.base),
    });
    return linesOf('one program', rounds, { ms: 1200, mib: 130 });
  } finally {
    await end();
  }
}

async function eachService(): Promise<readonly Line[]> {
  const what = 'a start of each service';
  const missing = natsServer.missing();
  if (missing !== undefined) return [{ what, skipped: missing }];
  const nats = await natsServer.start();
  if (nats === undefined) return [{ what, skipped: 'NATS did not start' }];
  try {
    const { program, end } = await startBenchProgram('four processes', { bus: nats.url, environment: ENVIRONMENT });
    try {
      const lines: Line[] = [];
      for (const service of SERVICES) {
        const base = service === 'gateway' ? program.base : `http://${program.config[service].http}`;
        const rounds = await inTurns(ROUNDS, { baseline: bareStart, product: () => startOf(program, service, base) });
        lines.push(...linesOf(service, rounds, { ms: 800, mib: 110 }));
      }
      return lines;
    } finally {
      await end();
    }
  } finally {
    await nats.stop();
  }
}

async function startOf(program: Program, service: ServiceProcess | undefined, base: string): Promise<Start> {
  await program.signal(service, 'SIGTERM');
  const start = performance.now();
  program.startOne(service);
  while (!(await isReady(base))) {
    if (performance.now() - start > READY_MS_MAX) throw new Error(`not ready in time: ${program.output()}`);
    await wait(LOOK_MS);
  }
  const ms = performance.now() - start;
  await wait(IDLE_MS);
  const index = service === undefined ? 0 : SERVICES.indexOf(service);
  return { ms, mib: residentMiB(program.pids()[index]!) };
}

const isReady = (base: string): Promise<boolean> =>
  fetch(`${base}/readyz`, { signal: AbortSignal.timeout(1000) }).then(
    ({ status }) => status === 200,
    () => false,
  );

async function bareStart(): Promise<Start> {
  const start = performance.now();
  const koa = await startBareKoa();
  const ms = performance.now() - start;
  await wait(IDLE_MS);
  const mib = residentMiB(koa.pid);
  koa.stop();
  return { ms, mib };
}

/** The memory of the process with its files, as `ps` shows it; NaN if the system does not report it. */
function residentMiB(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN;
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / KIB_PER_MIB;
}

function linesOf(
  what: string,
  { baseline, product }: Readonly<Record<'baseline' | 'product', readonly Start[]>>,
  goals: Start,
): readonly Line[] {
  const of = (starts: readonly Start[], figure: keyof Start): number => median(starts.map((start) => start[figure]));
  const line = (name: string, figure: keyof Start, unit: string): Line => ({
    what: `${what}: ${name} (baseline: bare Koa)`,
    figure: of(product, figure),
    baseline: of(baseline, figure),
    unit,
    goal: `under ${goals[figure]} ${unit}`,
  });
  return [line('a start until it is ready', 'ms', 'ms'), line('memory when idle', 'mib', 'MiB')];
}
