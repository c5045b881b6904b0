import { pino } from 'pino';
import type { Logger } from 'pino';
import { currentRequestId } from './request-context.ts';

/** Writes structured lines. Lines at info have no bodies, keys or texts of clients. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Log;
}

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LEVELS)[number];

/** Whether the text names a level. */
export function isLogLevel(text: string | undefined): text is LogLevel {
  return LEVELS.some((level) => level === text);
}

/** A log whose level can change while it is used, also by its children. */
export interface ProgramLog extends Log {
  level(): LogLevel;
  setLevel(level: LogLevel): void;
}

/** Lines that are written for a request have its id. */
export function openLog(name: string, level: LogLevel): ProgramLog {
  let least = LEVELS.indexOf(level);
  const lines = pino({
    level: 'debug',
    base: { service: name },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ['key', 'apiKey', 'authorization', '*.authorization'],
    // Fields of a line win over these.
    mixin: () => {
      const requestId = currentRequestId();
      return requestId === undefined ? {} : { requestId };
    },
  });
  return {
    ...logOver(lines, (line) => LEVELS.indexOf(line) >= least),
    level: () => LEVELS[least] ?? level,
    setLevel: (next) => {
      least = LEVELS.indexOf(next);
    },
  };
}

/** The children of pino keep the level that their parent had. */
function logOver(lines: Logger, isWritten: (level: LogLevel) => boolean): Log {
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (fields: object, message: string): void => {
      if (isWritten(level)) lines[level](fields, message);
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => logOver(lines.child(fields), isWritten),
  };
}

/** A log that writes nothing. */
export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLog,
};
