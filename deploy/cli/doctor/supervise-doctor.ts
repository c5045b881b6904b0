import { spawn } from 'node:child_process';
import type { Clock } from '@reelgate/platform/clock';
import type { Environment } from '../environment.ts';
import { DOCTOR_MS_MAX } from './deadline.ts';

/** The start of the command, in milliseconds since 1970. Only the supervised process has it. */
const BEGUN_AT = 'REELGATE_DOCTOR_BEGUN_AT';
/** For the end of both processes. */
const EXIT_MS = 300;
const FAILED = 2;

/** Reads the start time of the command that this process is a part of. Returns undefined if it is the whole command. */
export function readBegin(environment: Environment): number | undefined {
  const written = Number(environment[BEGUN_AT] ?? '');
  return Number.isSafeInteger(written) && written > 0 ? written : undefined;
}

/** Reports whether a call runs the doctor and is not supervised yet. */
export function needsSupervision(args: readonly string[], environment: Environment): boolean {
  return args.find((arg) => !arg.startsWith('-')) === 'doctor' && readBegin(environment) === undefined;
}

export interface SupervisedDoctor {
  readonly args: readonly string[];
  /** The main file of the command line. */
  readonly main: string;
  readonly environment: Environment;
  readonly begunAt: number;
  readonly clock: Clock;
}

/**
 * Runs the doctor in a process of its own and gives its exit code, at the latest when its time is over. A process that
 * waits for a name server does not end before the resolver of the system gives up, which takes half a minute, and one that
 * waits for a disk may never end. Such a process is killed here.
 */
export async function superviseDoctor({ args, main, environment, begunAt, clock }: SupervisedDoctor): Promise<number> {
  const child = spawn(process.execPath, [...process.execArgv, main, ...args], {
    env: { ...environment, [BEGUN_AT]: String(Math.round(begunAt)) },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  const over = new AbortController();
  const ended = new Promise<number>((resolve) => {
    child.once('message', (code) => resolve(Number(code)));
    child.once('exit', (code) => resolve(code ?? FAILED));
    child.once('error', (error) => {
      console.error(error.message);
      resolve(FAILED);
    });
  });
  const late = clock.sleep(begunAt + DOCTOR_MS_MAX - EXIT_MS - clock.now(), over.signal).then(() => {
    if (!over.signal.aborted) console.log(describeCutOff(args.includes('--json')));
    return FAILED;
  });
  try {
    return await Promise.race([ended, late]);
  } finally {
    over.abort();
    child.kill('SIGKILL');
  }
}

/** The line of a doctor that did not even come to its own deadline. */
function describeCutOff(json: boolean): string {
  const [detail, advice] = [
    'was ended, because it hung itself',
    'look at the disk that has its program and its configuration, and at the load of this machine',
  ];
  const line = { subject: 'doctor', part: '', grade: 'fail', detail, advice };
  return json
    ? JSON.stringify({ ok: false, worst: 'fail', lines: [line] })
    : `fail  doctor  ${detail}\n      do: ${advice}`;
}
