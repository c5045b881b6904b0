import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';

const RETRY_MS = 1000;
const SAY_EVERY_MS = 5000;
const CREDENTIALS = /\/\/[^@/\s]*@/g;

export interface ReachOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** The name of the dependency for the operator, without credentials. */
  readonly dependency: string;
  /** Reports whether an error means that the dependency is away for now. Any other error ends the start. */
  readonly isAway: (error: unknown) => boolean;
}

/** Repeats an operation of the start until its dependency is there. The log names the dependency at intervals. */
export async function whenReachable<T>(
  open: () => Promise<T>,
  { clock, log, dependency, isAway }: ReachOptions,
): Promise<T> {
  let saidAt: number | undefined;
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (!isAway(error)) throw error;
      const now = clock.now();
      if (saidAt === undefined || now - saidAt >= SAY_EVERY_MS) {
        log.warn({ dependency, reason: describeError(error) }, 'the start waits for a dependency');
        saidAt = now;
      }
      await clock.sleep(RETRY_MS);
    }
  }
}

/** A name for a log line: the kind of a server, and its address without user, password and options. */
export function describeServer(kind: string, url: string): string {
  const { host, pathname } = new URL(url);
  return `${kind} at ${host}${pathname === '/' ? '' : pathname}`;
}

/** An error in words, without the user and the password of an address. */
export function describeError(error: unknown): string {
  const { message, code } = error as Partial<Error & { readonly code: unknown }>;
  const said = message === undefined || message === '' ? code : message;
  return String(said ?? error).replaceAll(CREDENTIALS, '//***@');
}
