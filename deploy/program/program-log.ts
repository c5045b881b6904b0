import { systemClock } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { ConfigError } from '@reelgate/platform/config/config-file';
import { isPlain } from '@reelgate/platform/describe-error';
import { isLogLevel, newLog } from '@reelgate/platform/log';
import type { LogLevel, ProgramLog } from '@reelgate/platform/log';
import { logGrpcTo } from '@reelgate/platform/rpc/grpc/log';
import type { ServiceName } from './config/program-config.ts';

const DEBUG_MS = 15 * 60_000;

/** The log of a process, and its lines outside the log. */
export interface ProcessLog {
  readonly log: ProgramLog;
  /** Reports the reason why the process cannot start or continue: as lines of the log, or in words at a terminal. */
  fail(what: string, error: unknown): void;
  close(): void;
}

/**
 * Opens the log of the program with all services, or of the named one. Warnings of Node and lines of grpc-js go to it.
 * SIGUSR2 changes its level. `crash` is called after an error that no part has caught.
 */
export function openProcessLog(
  service: ServiceName | undefined,
  asked: string | undefined,
  crash: () => void,
): ProcessLog {
  const log = newLog(service ?? 'reelgate', isLogLevel(asked) ? asked : service === undefined ? 'warn' : 'info');
  const fail = service === undefined ? failInWords : failInLines(log);
  logGrpcTo(log);
  // Node's own listener prints in a form of its own.
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message, stack }) =>
    log[name === 'ExperimentalWarning' ? 'debug' : 'warn']({ warning: name, said: message, stack }, 'Node warns'),
  );
  process.on('uncaughtException', (error) => {
    fail('reelgate ends by a fault', error);
    crash();
  });
  const level = debugSwitch(log, systemClock);
  process.on('SIGUSR2', level.toggle);
  return { log, fail, close: level.close };
}

/** The program with all services is started by a person. */
function failInWords(what: string, error: unknown): void {
  if (error instanceof ConfigError || isPlain(error)) console.error(`${what}:\n${error.message}`);
  else console.error(`${what}:`, error instanceof Error ? (error.stack ?? error.message) : error);
}

/** A service of its own has a collector of lines, which gets one for each refused setting. */
function failInLines(log: ProgramLog): ProcessLog['fail'] {
  return (what, error) => {
    // A process that ends always logs the reason, even if its log is silent otherwise.
    if (log.level() === 'silent') log.setLevel('error');
    if (error instanceof ConfigError) for (const refused of error.refused) log.error({ refused }, what);
    else log.error({ err: error }, what);
  };
}

/** Turns debug lines on for a limited time, or off. */
export function debugSwitch(
  log: ProgramLog,
  clock: Clock,
): { readonly toggle: () => void; readonly close: () => void } {
  let on: AbortController | undefined;
  const turnOn = async (before: LogLevel, { signal }: AbortController): Promise<void> => {
    log.setLevel('debug');
    log.info({ minutes: DEBUG_MS / 60_000 }, 'debug lines are written; another SIGUSR2 ends them');
    await clock.sleep(DEBUG_MS, signal);
    log.info({ now: before }, 'debug lines end');
    log.setLevel(before);
    on = undefined;
  };
  const close = (): void => on?.abort();
  return {
    toggle: () => {
      if (on !== undefined) close();
      else void turnOn(log.level(), (on = new AbortController()));
    },
    close,
  };
}
