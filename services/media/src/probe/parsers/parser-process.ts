import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { NOT_AWAITED } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import type { NumberedJob, ProbeJob, ProbeOutcome } from '../probe.ts';
import type { CodeFolder } from './code-cache.ts';
import { readParserAnswer } from './parser-answer.ts';
import { parserEnvironment } from './parser-command.ts';
import type { ParserFolder } from './parser-folder.ts';
import { parserLines } from './parser-lines.ts';
import type { ParserLines } from './parser-lines.ts';
import { lowerPriority, readProcessUsage, boundsReached } from '../confinement/process-usage.ts';
import type { ProcessUsage } from '../confinement/process-usage.ts';

/** The time for a process to load its code. */
const START_MS = 20_000;
const READY = '{"ready":true}';

/** The job for a file. Its paths are paths of this process, not of the child. */
export interface ParserJob extends ProbeJob {
  readonly clock: Clock;
  readonly memoryBytes: number;
}

/**
 * The end of a job. Without an outcome the process is over: the file blocked it, filled its memory or crashed it, or
 * the process sent an answer that no parser sends.
 */
export interface ParserRun {
  readonly outcome: ProbeOutcome | undefined;
  /**
   * True if another file may be the reason for the missing outcome, because it was parsed earlier or ended the
   * process first: only a new process can judge this file.
   */
  readonly isInDoubt: boolean;
  /** Processor time, or wall-clock time if it is unknown. */
  readonly usedMs: number;
}

/** A child process that parses one file after another. */
export interface Parser {
  readonly pid: number | undefined;
  /** True if the process has ended. */
  readonly isOver: boolean;
  readonly jobs: number;
  readonly usedMs: number;
  /** Waits until the process can take a file. Returns false if it never can. */
  isUp(clock: Clock): Promise<boolean>;
  /** Parses the files one after another. Several files are never drawn in one run. */
  run(jobs: readonly ParserJob[]): Promise<readonly ParserRun[]>;
  kill(): Promise<void>;
}

/**
 * Starts a parser in a folder of its own, which is removed with it. The folder of its code is removed when it has
 * started.
 */
export function startParser(
  [program, ...args]: readonly [string, ...string[]],
  folder: ParserFolder,
  code: CodeFolder | undefined,
): Parser {
  const child = spawn(program, args, {
    cwd: folder.writable,
    env: parserEnvironment(folder.writable, code?.path),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  lowerPriority(child.pid);
  const [lines, usage] = [parserLines(child), trackUsage(child)];
  lines.await(1);
  const ready = lines.next();
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve()).once('error', () => resolve());
  }).then(() => Promise.all([folder.remove(), code?.end(false)]));
  detachChild(child);
  let [jobs, usedMs] = [0, 0];
  const kill = async (): Promise<void> => {
    child.ref();
    child.kill('SIGKILL');
    await ended;
  };
  return {
    pid: child.pid,
    kill,
    get isOver() {
      return lines.isOver;
    },
    get jobs() {
      return jobs;
    },
    get usedMs() {
      return usedMs;
    },
    isUp: async (clock) => {
      const isLoaded = (await withBound(ready, (signal) => clock.sleep(START_MS, signal))) === READY && !lines.isOver;
      await code?.end(isLoaded);
      return isLoaded && !lines.isOver;
    },
    run: async (given) => {
      const before = jobs;
      jobs += given.length;
      const runs = await runJobs({ child, lines, folder, before, usage }, given);
      for (const ran of runs) usedMs += ran.usedMs;
      if (runs.some(({ outcome }) => outcome === undefined)) await kill();
      return runs;
    },
  };
}

interface RunContext {
  readonly child: ChildProcess;
  readonly lines: ParserLines;
  readonly folder: ParserFolder;
  /** The number of jobs that the process had before. */
  readonly before: number;
  readonly usage: Usage;
}

/** The usage of a process as it was read last: a process without a file uses hardly anything. */
interface Usage {
  readonly last: ProcessUsage | undefined;
  readonly read: () => ProcessUsage | undefined;
}

function trackUsage(child: ChildProcess): Usage {
  let last: ProcessUsage | undefined;
  const read = (): ProcessUsage | undefined => {
    last = child.pid === undefined ? undefined : readProcessUsage(child.pid);
    return last;
  };
  return {
    read,
    get last() {
      return last;
    },
  };
}

const NOT_BEGUN: ParserRun = { outcome: undefined, isInDoubt: true, usedMs: 0 };

/** Gives the process all jobs together, so that it has the next file at hand, and reads the answers in their order. */
async function runJobs(running: RunContext, jobs: readonly ParserJob[]): Promise<readonly ParserRun[]> {
  const { child, lines, folder, before } = running;
  if (jobs.length > 1 && jobs.some(({ into }) => into !== '')) throw new Error('several files are drawn at once');
  if (lines.isOver) return jobs.map(() => NOT_BEGUN);
  try {
    await Promise.all(jobs.map(({ path }, at) => folder.put(path, at)));
    lines.await(jobs.length);
    child.stdin?.write(jobs.map((job, at) => toJobLine(job, { number: before + at + 1, folder, at })).join(''));
    const runs: ParserRun[] = [];
    for (const [at, job] of jobs.entries()) {
      const isOver = runs.at(-1)?.outcome === undefined && at > 0;
      runs.push(isOver ? NOT_BEGUN : await runJob(running, job, before + at + 1));
    }
    return runs;
  } finally {
    folder.clear();
  }
}

function toJobLine(
  { work, into, pixelsMax, timeoutMs }: ParserJob,
  { number: job, folder, at }: { readonly number: number; readonly folder: ParserFolder; readonly at: number },
): string {
  const path = folder.fileAt(at);
  const given: NumberedJob = { job, work, path, into: into === '' ? '' : folder.drawn, pixelsMax, timeoutMs };
  return `${JSON.stringify(given)}\n`;
}

async function runJob(running: RunContext, job: ParserJob, number: number): Promise<ParserRun> {
  const { lines, folder } = running;
  const { line, usedMs } = await answerTo(running, job);
  const outcome = line === undefined ? undefined : readParserAnswer(line, number);
  if (outcome === undefined) {
    const isInDoubt = number > 1 && (line !== undefined || lines.isOver);
    return { outcome, isInDoubt, usedMs: isInDoubt ? usedMs : Math.max(usedMs, job.timeoutMs) };
  }
  const isTaken = job.into === '' || !('facts' in outcome) || (await folder.take(job.into));
  return { outcome: isTaken ? outcome : undefined, isInDoubt: false, usedMs };
}

/**
 * Waits for the answer to a job. Without a line, the process has ended or has reached a bound. The usage is not read
 * for an answer that came together with the one before.
 */
async function answerTo(
  { lines, usage }: RunContext,
  { clock, timeoutMs: ms, memoryBytes }: ParserJob,
): Promise<{ readonly line: string | undefined; readonly usedMs: number }> {
  const come = lines.take();
  if (come !== undefined) return { line: come, usedMs: 0 };
  const [began, before] = [clock.now(), usage.last ?? usage.read()];
  const line = await withBound(lines.next(), (signal) =>
    boundsReached(usage.read, { clock, before, ms, memoryBytes, signal }),
  );
  const after = usage.read();
  const usedMs =
    before === undefined || after === undefined
      ? Math.min(ms, clock.now() - began)
      : after.processorMs - before.processorMs;
  return { line, usedMs };
}

/** The child does not keep this process from ending. */
function detachChild(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout] as unknown as readonly (Socket | null)[]) stream?.unref();
  // the running job notices the end of the child
  child.stdin?.on('error', () => undefined);
}

async function withBound<T>(work: Promise<T>, bound: (signal: AbortSignal) => Promise<void>): Promise<T | undefined> {
  const done = new AbortController();
  try {
    return await Promise.race([work, bound(done.signal).then(() => undefined)]);
  } finally {
    done.abort(NOT_AWAITED);
  }
}
