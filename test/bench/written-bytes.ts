import { readFileSync } from 'node:fs';

/** The bytes that a process has handed to the disk so far, by Linux's count of pages; NaN on other systems. */
export function writtenBytesOf(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN;
  const [, bytes] = /^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))!;
  return Number(bytes);
}
