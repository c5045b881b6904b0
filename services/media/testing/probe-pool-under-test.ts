import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { systemClock } from '@reelgate/platform/clock';
import { newIds } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import type { Log } from '@reelgate/platform/log';
import { confinementOnce } from '../src/probe/confinement/confinement.ts';
import { newParsers } from '../src/probe/parsers/parsers.ts';
import { newProbePool } from '../src/probe/pool/probe-pool.ts';
import type { ProbePool, ProbePoolOptions } from '../src/probe/pool/probe-pool.ts';

/**
 * A pool as the service opens it. Its folder is removed when it closes. `ended` has a warning for each parser that a file
 * took over: a file that is refused for what it holds leaves its parser running, however slow the machine is.
 */
export function startProbePool(
  options: Partial<ProbePoolOptions> & { readonly script?: string } = {},
): ProbePool & { readonly folder: string; readonly ended: readonly string[] } {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'media-parsing-'));
  const { script, ...others } = options;
  const ended: string[] = [];
  const log: Log = { ...silentLog, warn: (_fields, message) => ended.push(message) };
  const parsers = newParsers({
    newId: newIds(systemClock),
    folder,
    confinement: confinementOnce(silentLog),
    ...(script === undefined ? {} : { script }),
  });
  const pool = newProbePool({
    clock: systemClock,
    log,
    parsers,
    workers: 1,
    filesMax: 1,
    warm: 0,
    queueMax: 256,
    queuePerAccountMax: 256,
    timeoutMs: 5000,
    heapBytes: 256 * 1024 ** 2,
    memoryBytes: 1024 ** 3,
    pixelsMax: 40_000_000,
    ...others,
  });
  return {
    ...pool,
    folder,
    ended,
    stop: async () => {
      await pool.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The account of a test that does not depend on its account. */
export const ANY_ACCOUNT = { accountId: 'demo' };
