import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { NOT_AWAITED } from '@reelgate/platform/clock';
import type { Sleeper } from '@reelgate/platform/clock';
import type { SeedReport } from './seed-report.ts';

const ERRORS_KEPT_MAX = 4000;
const OUTPUT_KEPT_MAX = 1_000_000;

export const ENDLESS = 'a seed ends in real time';
export const DEADLY = 'a seed does not end its process';

/** A seed that has no report, because its process hung or died. */
export interface BatchFault {
  readonly rule: string;
  readonly detail: string;
}

export interface ChildOptions {
  /** The arguments of Node: its flags, the program and the options of that. */
  readonly words: readonly string[];
  /** Added to the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
  readonly clock: Sleeper;
  /** The time in milliseconds between two lines of the program, after which it is killed. */
  readonly silenceMsMax: number;
  /** Aborted: the program ends after the seed that it runs. */
  readonly stop: AbortSignal;
  /** Aborted: the program ends at once. */
  readonly kill: AbortSignal;
}

interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The end of what it wrote to its error output. */
  readonly errors: string;
  readonly isHung: boolean;
}

/**
 * Runs some seeds in a process of their own. Its memory grows with each seed, and it may hang or die. Undefined: each
 * seed has its report.
 */
export async function runBatch(
  options: ChildOptions & { readonly onReport: (report: SeedReport) => void },
): Promise<BatchFault | undefined> {
  let isBroken = false;
  const { code, signal, errors, isHung } = await runChild(options, (line) => {
    const report = readReport(line);
    if (report === undefined) return;
    isBroken = report.rule !== undefined;
    options.onReport(report);
  });
  if (options.kill.aborted || (options.stop.aborted && signal === 'SIGINT')) return undefined;
  if (isHung) return { rule: ENDLESS, detail: `it did not end within ${options.silenceMsMax} ms` };
  if (code === 0 || (code === 1 && isBroken)) return undefined;
  return { rule: DEADLY, detail: `${signal ?? `exit code ${code}`}: ${errors}` };
}

/** Runs a program, and returns what it printed. */
export async function readChild(options: ChildOptions): Promise<string> {
  let said = '';
  const { errors, isHung } = await runChild(options, (line) => {
    said = `${said}${line}\n`.slice(-OUTPUT_KEPT_MAX);
  });
  return `${said}${errors}${isHung ? `it was silent for ${options.silenceMsMax} ms and was ended\n` : ''}`;
}

async function runChild(
  { words, env, clock, silenceMsMax, stop, kill }: ChildOptions,
  onLine: (line: string) => void,
): Promise<ChildEnd> {
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  const closed = once(child, 'close');
  let [isHung, errors, silence] = [false, '', new AbortController()];
  const end = (signal: NodeJS.Signals) => () => {
    child.kill(signal);
  };
  const [interrupt, destroy] = [end('SIGINT'), end('SIGKILL')];
  const awaitLine = (): void => {
    silence.abort(NOT_AWAITED);
    const mine = new AbortController();
    silence = mine;
    void clock.sleep(silenceMsMax, mine.signal).then(() => {
      if (mine.signal.aborted) return;
      isHung = true;
      destroy();
    });
  };
  stop.addEventListener('abort', interrupt);
  kill.addEventListener('abort', destroy);
  awaitLine();
  createInterface({ input: child.stdout }).on('line', (line) => {
    awaitLine();
    onLine(line);
  });
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    errors = (errors + part).slice(-ERRORS_KEPT_MAX);
  });
  await closed;
  silence.abort(NOT_AWAITED);
  stop.removeEventListener('abort', interrupt);
  kill.removeEventListener('abort', destroy);
  return { code: child.exitCode, signal: child.signalCode, errors, isHung };
}

function readReport(line: string): SeedReport | undefined {
  return line.startsWith('{') ? (JSON.parse(line) as SeedReport) : undefined;
}
