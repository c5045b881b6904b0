import { createHash } from 'node:crypto';

/** Everything that happened in a run, in order. Equal logs mean equal runs, as far as the lines show them. */
export interface EventLog {
  /** Adds a line with its time and its process. */
  write(at: number, process: string, text: string): void;
  /** The hash of all lines. */
  readonly digest: () => string;
  readonly text: () => string;
  readonly lines: () => readonly string[];
}

/** `begin` is the first moment of the run: lines have the milliseconds since then. */
export function openEventLog(begin: number): EventLog {
  const lines: string[] = [];
  return {
    write: (at, process, text) => {
      lines.push(`${at - begin} ${process} ${text}`);
    },
    digest: () => createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16),
    text: () => `${lines.join('\n')}\n`,
    lines: () => lines,
  };
}

/** The fields of a log line of the product. Stacks are left out, because they name paths of this machine. */
export function showFields(fields: object): string {
  return JSON.stringify(fields, (_name, value: unknown) => {
    if (typeof value === 'bigint') return String(value);
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    return value;
  });
}
