import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { Problem } from '@reelgate/platform/problem';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { processorTimeUsed } from './processor-time.ts';
import type { Draw, Probe, ProbeJob, ProbeOutcome, Work } from './probe.ts';

const WORKER = fileURLToPath(new URL('./probe-worker.ts', import.meta.url));
const WAITING_MAX = 256;
const MIB = 1024 ** 2;
const YOUNG_MIB = 4;
const STACK_MIB = 4;
const BUSY_RETRY_MS = 1000;
/** For a worker to load what it needs. */
const START_MS = 20_000;
/** Drawing takes longer than looking: every pixel is written too. */
const DRAW_TIMES = 4;

export interface ProbePool {
  readonly probe: Probe;
  readonly redraw: Draw;
  readonly poster: Draw;
  stop(): Promise<void>;
}

export interface ProbePoolOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly workers: number;
  /** Of the processor, for each file. A file that takes longer is not read. */
  readonly timeoutMs: number;
  /** Of JavaScript in each worker. */
  readonly heapBytes: number;
  readonly pixelsMax: number;
}

/** A few workers, made when they are needed and used again; one that a file holds up or fills is ended, and another takes its place. */
export function openProbePool(options: ProbePoolOptions): ProbePool {
  const idle: Worker[] = [];
  const all = new Set<Worker>();
  const waiting: (() => void)[] = [];
  let busy = 0;
  let stopped = false;

  const enter = async (): Promise<void> => {
    if (stopped || waiting.length >= WAITING_MAX) throw new Problem({ kind: 'unavailable', reason: 'media_busy', message: 'cannot be looked at now: too many files wait; try again', retryAfterMs: BUSY_RETRY_MS });
    if (busy < options.workers) busy += 1;
    else await new Promise<void>((resolve) => { waiting.push(resolve); });
  };
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) busy -= 1;
    else next();
  };
  const worker = (): Worker => {
    const found = idle.pop();
    if (found !== undefined) return found;
    const made = startProbeWorker(options.heapBytes);
    all.add(made);
    return made.once('exit', () => {
      all.delete(made);
      if (idle.includes(made)) idle.splice(idle.indexOf(made), 1);
    });
  };

  const run = async (job: ProbeJob): Promise<ProbeOutcome> => {
    await enter();
    const taken = worker();
    try {
      const outcome = await runJob(taken, options.clock, job);
      if (outcome !== undefined && !stopped) {
        idle.push(taken);
        return outcome;
      }
      await taken.terminate();
      if (outcome === undefined) options.log.warn({}, 'a file held up or filled the parser; its worker was ended');
      return outcome ?? { fault: 'overrun' };
    } finally {
      leave();
    }
  };
  return {
    ...asked(run, options),
    stop: async () => {
      stopped = true;
      await Promise.all([...all].map((each) => each.terminate()));
    },
  };
}

function asked(run: (job: ProbeJob) => Promise<ProbeOutcome>, { pixelsMax, timeoutMs }: ProbePoolOptions): Pick<ProbePool, Work> {
  return {
    probe: (path) => run({ work: 'probe', path, into: '', pixelsMax, timeoutMs }),
    redraw: (path, into) => run({ work: 'redraw', path, into, pixelsMax, timeoutMs: DRAW_TIMES * timeoutMs }),
    poster: (path, into) => run({ work: 'poster', path, into, pixelsMax, timeoutMs }),
  };
}

/** Whether a worker has come up. */
const started = new WeakMap<Worker, Promise<boolean>>();

function startProbeWorker(heapBytes: number): Worker {
  const worker = new Worker(WORKER, {
    env: {}, execArgv: [], stdout: true, stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: Math.ceil(heapBytes / MIB), maxYoungGenerationSizeMb: YOUNG_MIB, stackSizeMb: STACK_MIB },
  });
  worker.stdout.resume();
  worker.stderr.resume();
  // its end is seen by the job that it had
  worker.on('error', () => undefined);
  worker.unref();
  started.set(worker, new Promise((resolve) => {
    worker.once('message', () => { resolve(true); }).once('exit', () => { resolve(false); });
  }));
  return worker;
}

/** Undefined: the worker answered nothing in its time of the processor, or died. The time of a file runs from when its worker can look at it. */
async function runJob(worker: Worker, clock: Clock, job: ProbeJob): Promise<ProbeOutcome | undefined> {
  const isUp = await withinTime(clock, START_MS, async () => started.get(worker) ?? false);
  if (isUp !== true) return undefined;
  const { promise: answered, resolve } = Promise.withResolvers<ProbeOutcome | undefined>();
  const died = (): void => {
    resolve(undefined);
  };
  worker.once('message', resolve).once('exit', died);
  worker.postMessage(job);
  const done = new AbortController();
  try {
    return await Promise.race([answered, processorTimeUsed(worker, clock, { ms: job.timeoutMs, signal: done.signal }).then(() => undefined)]);
  } finally {
    done.abort();
    worker.off('message', resolve).off('exit', died);
  }
}

async function withinTime<T>(clock: Clock, ms: number, work: () => Promise<T>): Promise<T | undefined> {
  const done = new AbortController();
  try {
    return await Promise.race([work(), clock.sleep(ms, done.signal).then(() => undefined)]);
  } finally {
    done.abort();
  }
}
