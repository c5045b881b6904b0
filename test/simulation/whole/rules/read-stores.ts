import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export type Row = Readonly<Record<string, string | number | bigint | null>>;

export type ReadStore = (service: 'tasks' | 'billing', text: string, ...values: readonly string[]) => readonly Row[];

/** Breaks a rule if there are rows, which its detail shows. */
export type ExpectNone = (rule: string, rows: readonly Row[]) => void;

export type BreakRule = (rule: string, detail: string) => void;

/** Reads the stores beside the product, on connections of its own. */
export function openReaders(folder: () => string): { readonly read: ReadStore; readonly close: () => void } {
  let opened = '';
  const readers = new Map<string, DatabaseSync>();
  const close = (): void => {
    for (const reader of readers.values()) reader.close();
    readers.clear();
  };
  const read: ReadStore = (service, text, ...values) => {
    if (opened !== folder()) {
      close();
      opened = folder();
    }
    const file = path.join(opened, `${service}.sqlite`);
    const reader = readers.get(service) ?? new DatabaseSync(file, { readOnly: true });
    readers.set(service, reader);
    return reader.prepare(text).all(...values) as unknown as readonly Row[];
  };
  return { read, close };
}

export function showRow(row: Row): string {
  return Object.entries(row)
    .map(([name, value]) => `${name} ${String(value).slice(0, 80)}`)
    .join(', ');
}
