import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { NOT_AWAITED } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import type { NumberedJob, ProbeJob, ProbeOutcome } from '../probe.ts';
import type { CodeFolder } from './code-cache.ts';
import { parserAnswer } from './parser-answer.ts';
import { parserEnvironment } from './parser-command.ts';
import type { ParserFolder } from './parser-folder.ts';
import { usageOf } from '../confinement/process-usage.ts';
import type { ProcessUsage } from '../confinement/process-usage.ts';
import { boundsReached } from '../confinement/watch-usage.ts';

/** The time for a process to load its code. */
const START_MS = 20_000;
/** The most characters of one answer, which has a dozen fields. */
const ANSWER_CHARACTERS_MAX = 4096;
const READY = '{"ready":true}';

/** The job for a file. Its paths are those of this process, not of the child. */
export interface ParserJob extends ProbeJob {
  readonly clock: Clock;
  readonly memoryBytes: number;
}

/**
 * How a job ended. Without an outcome the process is over: the file blocked it, filled its memory or crashed it, or the
 * process gave an answer that no parser gives.
 */
export interface ParserRun {
  readonly outcome: ProbeOutcome | undefined;
  /** Whether an earlier file may be the reason that there is no outcome: only a new process can judge this file. */
  readonly isInDoubt: boolean;
  /** Processor time, or wall-clock time if it is unknown. */
  readonly usedMs: number;
}

/** A child process that parses one file after another. */
export interface Parser {
  readonly pid: number | undefined;
  /** Whether the process has ended. */
  readonly isOver: boolean;
  readonly jobs: number;
  readonly usedMs: number;
  /** Waits until the process can take a file; false: it never can. */
  isUp(clock: Clock): Promise<boolean>;
  run(job: ParserJob): Promise<ParserRun>;
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
  const [lines, usage] = [linesOf(child), usageIn(child)];
  const ready = lines.next();
  const ended = new Promise<void>((resolve) => {
    child
      .once('close', () => {
        resolve();
      })
      .once('error', () => {
        resolve();
      });
  }).then(() => Promise.all([folder.remove(), code?.end(false)]));
  letGo(child);
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
      const isLoaded = (await firstOf(ready, (signal) => clock.sleep(START_MS, signal))) === READY && !lines.isOver;
      await code?.end(isLoaded);
      return isLoaded && !lines.isOver;
    },
    run: async (job) => {
      jobs += 1;
      const ran = await runJob({ child, lines, folder, number: jobs, usage }, job);
      usedMs += ran.usedMs;
      if (ran.outcome === undefined) await kill();
      return ran;
    },
  };
}

/** A job in a process, and the usage of the process before it. */
interface Running {
  readonly child: ChildProcess;
  readonly lines: Lines;
  readonly folder: ParserFolder;
  /** The number of the job in the life of the process. */
  readonly number: number;
  readonly usage: Usage;
}

/** The usage of a process as it was read last: a process without a file uses hardly anything. */
interface Usage {
  readonly last: ProcessUsage | undefined;
  readonly read: () => ProcessUsage | undefined;
}

function usageIn(child: ChildProcess): Usage {
  let last: ProcessUsage | undefined;
  const read = (): ProcessUsage | undefined => {
    last = child.pid === undefined ? undefined : usageOf(child.pid);
    return last;
  };
  return {
    read,
    get last() {
      return last;
    },
  };
}

async function runJob(running: Running, job: ParserJob): Promise<ParserRun> {
  const { lines, folder, number } = running;
  if (lines.isOver) return { outcome: undefined, isInDoubt: true, usedMs: 0 };
  await folder.put(job.path);
  try {
    const { line, usedMs } = await ask(running, job);
    const outcome = line === undefined ? undefined : parserAnswer(line, number);
    if (outcome === undefined) {
      const isInDoubt = number > 1 && (line !== undefined || lines.isOver);
      return { outcome, isInDoubt, usedMs: isInDoubt ? usedMs : Math.max(usedMs, job.timeoutMs) };
    }
    const isTaken = job.into === '' || !('facts' in outcome) || (await folder.take(job.into));
    return { outcome: isTaken ? outcome : undefined, isInDoubt: false, usedMs };
  } finally {
    folder.clear();
  }
}

/** Gives the process a job. No line: the process has ended or has reached a bound. */
async function ask(
  { child, lines, folder, number, usage }: Running,
  { clock, work, into, pixelsMax, timeoutMs: ms, memoryBytes }: ParserJob,
): Promise<{ readonly line: string | undefined; readonly usedMs: number }> {
  const [began, before] = [clock.now(), usage.last ?? usage.read()];
  const answered = lines.next();
  const given: NumberedJob = {
    job: number,
    work,
    path: folder.file,
    into: into === '' ? '' : folder.drawn,
    pixelsMax,
    timeoutMs: ms,
  };
  child.stdin?.write(`${JSON.stringify(given)}\n`);
  const line = await firstOf(answered, (signal) =>
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
function letGo(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout] as unknown as readonly (Socket | null)[]) stream?.unref();
  // the running job notices the end of the child
  child.stdin?.on('error', () => undefined);
}

async function firstOf<T>(work: Promise<T>, bound: (signal: AbortSignal) => Promise<void>): Promise<T | undefined> {
  const done = new AbortController();
  try {
    return await Promise.race([work, bound(done.signal).then(() => undefined)]);
  } finally {
    done.abort(NOT_AWAITED);
  }
}

interface Lines {
  readonly isOver: boolean;
  /** The next line; undefined: the process has ended. It has one reader. */
  next(): Promise<string | undefined>;
}

/**
 * The lines that a process writes, one for each job. A process that writes a line while none is awaited, or several at
 * once, is ended. A line that comes too late to be noticed so names an earlier job.
 */
function linesOf(child: ChildProcess): Lines {
  let received = '';
  let isOver = false;
  let resolve: ((line: string | undefined) => void) | undefined;
  const give = (line: string | undefined): void => {
    const waiting = resolve;
    resolve = undefined;
    waiting?.(line);
  };
  const end = (): void => {
    isOver = true;
    child.kill('SIGKILL');
    give(undefined);
  };
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    received += chunk;
    const at = received.indexOf('\n');
    if (received.length > ANSWER_CHARACTERS_MAX || resolve === undefined || (at >= 0 && at < received.length - 1))
      end();
    if (isOver || at < 0) return;
    const line = received.slice(0, at);
    received = '';
    give(line);
  });
  child.once('exit', end).once('error', end);
  return {
    get isOver() {
      return isOver;
    },
    next: () =>
      isOver
        ? Promise.resolve(undefined)
        : new Promise((asked) => {
            resolve = asked;
          }),
  };
}
