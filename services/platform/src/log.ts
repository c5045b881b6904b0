import { pino } from 'pino';
import type { Logger } from 'pino';
import { currentRequestId, currentTraceId, outsideRequests } from './request-context.ts';
import { systemClock } from './clock.ts';
import { describeErrors } from './describe-error.ts';

export interface WarningLog {
  warn(fields: object, message: string): void;
}

/** Writes structured lines. Lines at info have no bodies, keys or texts of clients. */
export interface Log extends WarningLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** Writes the line of a request or a call that has ended, if the access log has lines of this kind. */
  access(line: AccessLine, fields: AccessFields, message: string): void;
  child(fields: object): Log;
}

export interface AccessLine {
  /** `debug` for a request that does not change data and that other programs repeat all the time. */
  readonly level: 'debug' | 'info';
  /** True if the request was refused or failed. */
  readonly failed: boolean;
}

/** The fields of an access line: single values, and no field with a name that suggests a key. */
export type AccessFields = Readonly<Record<string, string | number | undefined>> & {
  readonly [hidden in (typeof HIDDEN)[number]]?: never;
};

/** The lines of requests and calls that are written: all of them, only refused and failed ones, or no lines. */
export const ACCESS_MODES = ['all', 'errors', 'off'] as const;
export type AccessMode = (typeof ACCESS_MODES)[number];

/** The fields that no line shows. */
const HIDDEN = ['key', 'apiKey', 'authorization'] as const;
const HIDDEN_NAMES: ReadonlySet<string> = new Set(HIDDEN);
const PLAIN_TYPES: ReadonlySet<string> = new Set(['string', 'number', 'boolean', 'undefined']);
/** The field of the trace, under the name that tools read. */
const TRACE_FIELD = 'trace_id';
const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LEVELS)[number];

/** Reports whether the text names a level. */
export function isLogLevel(text: string | undefined): text is LogLevel {
  return LEVELS.some((level) => level === text);
}

/** A log with a level that can change while it is in use, also by its children. */
export interface ProgramLog extends Log {
  level(): LogLevel;
  setLevel(level: LogLevel): void;
  /** At first all lines of requests are written. */
  setAccess(mode: AccessMode): void;
}

/** Lines that are written for a request have its id, and the id of its trace if that is recorded. */
export function newLog(name: string, level: LogLevel): ProgramLog {
  let least = LEVELS.indexOf(level);
  const out = newBatchedLines();
  const lines = pino(
    {
      level: 'debug',
      base: { service: name },
      timestamp: pino.stdTimeFunctions.isoTime,
      // an error is described before it comes here
      serializers: { err: (described: unknown) => described },
      redact: [...HIDDEN, '*.authorization'],
      // Fields of a line win over these.
      mixin: readContextFields,
    },
    out,
  );
  let access: AccessMode = 'all';
  return {
    ...logOver(
      lines,
      { service: name },
      {
        out,
        isWritten: (line) => LEVELS.indexOf(line) >= least,
        hasAccess: (failed) => access === 'all' || (access === 'errors' && failed),
        written: (line) => {
          if (line === 'warn' || line === 'error') out.flush();
        },
      },
    ),
    level: () => LEVELS[least] ?? level,
    setLevel: (next) => {
      least = LEVELS.indexOf(next);
    },
    setAccess: (mode) => {
      access = mode;
    },
  };
}

interface Switches {
  readonly out: BatchedLines;
  readonly isWritten: (level: LogLevel) => boolean;
  readonly hasAccess: (failed: boolean) => boolean;
  /** Called after a line, because a warning does not wait for further lines. */
  readonly written: (level: LogLevel) => void;
}

/**
 * The children of pino keep the level that their parent had. `bound` has the fields that every line of the log has. A
 * line of single values is written as pino would write it. Pino takes four times as long, because it searches every line
 * for keys at every depth.
 */
function logOver(lines: Logger, bound: object, switches: Switches): Log {
  const head = JSON.stringify(bound, hideKeys).slice(1, -1);
  const write = (level: LogLevel, fields: PlainFields, message: string): void =>
    switches.out.write(formatLine(lines.levels.values[level] ?? 0, head, fields, message));
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (fields: object, message: string): void => {
      if (!switches.isWritten(level)) return;
      if (isPlain(fields)) write(level, fields, message);
      else lines[level](describeErrors(fields), message);
      switches.written(level);
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    access: ({ level, failed }, fields, message) => {
      if (switches.hasAccess(failed) && switches.isWritten(level)) write(level, fields, message);
    },
    child: (given) => {
      const fields = describeErrors(given);
      return logOver(lines.child(fields), { ...bound, ...fields }, switches);
    },
  };
}

type PlainFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Reports whether all fields are single values, and no field has a name that suggests a key. */
function isPlain(fields: object): fields is PlainFields {
  // its members are not enumerable
  if (fields instanceof Error) return false;
  for (const name in fields) {
    const value = (fields as Readonly<Record<string, unknown>>)[name];
    if (typeof value === 'object' ? value !== null : !PLAIN_TYPES.has(typeof value)) return false;
    if (HIDDEN_NAMES.has(name)) return false;
  }
  return true;
}

function formatLine(level: number, head: string, fields: PlainFields, message: string): string {
  const text = JSON.stringify({ ...readContextFields(), ...fields, msg: message });
  return `{"level":${level},"time":"${formatNow()}",${head},${text.slice(1)}\n`;
}

function readContextFields(): { requestId?: string; [TRACE_FIELD]?: string } {
  const [requestId, traceId] = [currentRequestId(), currentTraceId()];
  return {
    ...(requestId === undefined ? {} : { requestId }),
    ...(traceId === undefined ? {} : { [TRACE_FIELD]: traceId }),
  };
}

function hideKeys(name: string, value: unknown): unknown {
  return HIDDEN_NAMES.has(name) ? '[Redacted]' : value;
}

let formattedAt = Number.NaN;
let formatted = '';

/** The time as text. Lines of the same millisecond share it. */
function formatNow(): string {
  const now = systemClock.now();
  if (now !== formattedAt) [formattedAt, formatted] = [now, new Date(now).toISOString()];
  return formatted;
}

/**
 * Returns the log for a part that works for all requests together, such as a queue, a pool or a connection. Its lines
 * have no request id, because the request that happens to run at that moment is unrelated.
 */
export function backgroundLog(log: Log): Log {
  const outside =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (fields: object, message: string): void => {
      outsideRequests(() => log[level](fields, message));
    };
  return {
    debug: outside('debug'),
    info: outside('info'),
    warn: outside('warn'),
    error: outside('error'),
    access: (line, fields, message) => {
      outsideRequests(() => log.access(line, fields, message));
    },
    child: (fields) => backgroundLog(log.child(fields)),
  };
}

/** A log that discards its lines. */
export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  access: () => undefined,
  child: () => silentLog,
};

const STANDARD_OUTPUT = 1;
/** The time that a line waits for others, in milliseconds. */
const WAIT_MS = 10;
/** The characters that do not wait any longer. */
const WAITING_MAX = 65_536;

/** Takes lines and writes the lines of a moment together, because a write takes longer than the line. */
interface BatchedLines {
  write(line: string): void;
  /** Writes the lines that wait. */
  flush(): void;
}

/**
 * Writes to the standard output. A process that exits writes the waiting lines. A process that is killed loses the
 * lines of the last moment.
 */
function newBatchedLines(): BatchedLines {
  const out = pino.destination({ dest: STANDARD_OUTPUT, sync: false });
  let lines = '';
  let isWaiting = false;
  const flush = (): void => {
    const text = lines;
    lines = '';
    if (text !== '') out.write(text);
  };
  const wait = async (): Promise<void> => {
    isWaiting = true;
    await systemClock.sleep(WAIT_MS);
    isWaiting = false;
    flush();
  };
  process.on('exit', () => {
    flush();
    out.flushSync();
  });
  return {
    flush,
    write: (line) => {
      lines += line;
      if (lines.length >= WAITING_MAX) flush();
      else if (!isWaiting) void wait();
    },
  };
}
