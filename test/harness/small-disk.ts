import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, truncateSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const PIECE = Buffer.alloc(64 * 1024);

/** A small disk that fills quickly. */
export interface SmallDisk {
  readonly folder: string;
  /** Fills the disk until at most `bytesLeft` bytes fit, rounded to a page of memory. */
  fill(bytesLeft?: number): void;
  /** Makes room again. */
  empty(): void;
  close(): void;
}

/**
 * `size` is that of `mount`, such as `8m`. Undefined, with a message on standard error: the tests lack the rights to
 * mount a file system.
 */
export function smallDisk(size = '8m'): SmallDisk | undefined {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'reelgate-small-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    rmSync(folder, { recursive: true });
    process.stderr.write('skipped: a full disk: no file system can be mounted here\n');
    return undefined;
  }
  const filler = path.join(folder, 'filler');
  return {
    folder,
    fill: (bytesLeft = 0) => {
      truncateSync(filler, fillWhole(filler) - bytesLeft);
    },
    empty: () => {
      rmSync(filler, { force: true });
    },
    close: () => {
      execFileSync('umount', [folder]);
      rmSync(folder, { recursive: true });
    },
  };
}

/** Fills the disk completely; returns the number of bytes in the file. */
function fillWhole(file: string): number {
  let held = 0;
  for (let bytes = PIECE.byteLength; bytes > 0;) {
    try {
      appendFileSync(file, PIECE.subarray(0, bytes));
      held += bytes;
    } catch {
      bytes = Math.floor(bytes / 2);
    }
  }
  return held;
}
