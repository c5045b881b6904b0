import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { Problem } from '@reelgate/platform/problem';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { Probe, ProbeJob, ProbeOutcome } from './probe.ts';

const WORKER = fileURLToPath(new URL('./probe-worker.ts', import.meta.url));
const WAITING_MAX = 256;
const MIB = 1024 ** 2;
const YOUNG_MIB = 32;
const STACK_MIB = 4;
const BUSY_RETRY_MS = 1000;

export interface ProbePool {
  readonly probe: Probe;
  stop(): Promise<void>;
}

export interface ProbePoolOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly workers: number;
  /** For each file. A file that takes longer is not read. */
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

  const probe: Probe = async (path) => {
    await enter();
    const taken = worker();
    try {
      const outcome = await runJob(taken, options, { path, pixelsMax: options.pixelsMax, timeoutMs: options.timeoutMs });
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
    probe,
    stop: async () => {
      stopped = true;
      await Promise.all([...all].map((each) => each.terminate()));
    },
  };
}

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
  return worker;
}

/** Undefined: the worker answered nothing in time, or died. */
async function runJob(worker: Worker, { clock, timeoutMs }: ProbePoolOptions, job: ProbeJob): Promise<ProbeOutcome | undefined> {
  const done = new AbortController();
  const { promise: answered, resolve } = Promise.withResolvers<ProbeOutcome | undefined>();
  const died = (): void => {
    resolve(undefined);
  };
  worker.once('message', resolve).once('exit', died);
  worker.postMessage(job);
  const late = clock.sleep(timeoutMs, done.signal).then(() => undefined);
  try {
    return await Promise.race([answered, late]);
  } finally {
    done.abort();
    worker.off('message', resolve).off('exit', died);
  }
}
