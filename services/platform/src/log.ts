import { pino } from 'pino';

/** Writes structured lines. Lines at info have no bodies, keys or texts of clients. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Log;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export function openLog(name: string, level: LogLevel): Log {
  return pino({
    level,
    base: { service: name },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ['key', 'apiKey', 'authorization', '*.authorization'],
  });
}

/** A log that writes nothing. */
export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLog,
};
