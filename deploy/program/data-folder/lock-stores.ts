import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '@reelgate/platform/config/config-file';
import type { Log } from '@reelgate/platform/log';
import { lockFile } from '@reelgate/platform/sql/sqlite-lock';
import { CALLED_SERVICES } from '../config/program-config.ts';
import type { CalledService, ProgramConfig, ServiceName } from '../config/program-config.ts';

/**
 * Locks the embedded stores of this process until it ends, also by SIGKILL. The lock is the system's own lock of a
 * file, which does not outlast a crash and is not confused by reused process ids. Refuses a store that another program
 * uses. The command line does not take the lock, so it can read the stores of a running program. Returns the function
 * that releases the locks.
 */
export function lockStores(config: ProgramConfig, service: ServiceName | undefined, log: Log): () => void {
  const held: (() => void)[] = [];
  const unlock = (): void => {
    for (const one of held.splice(0)) one();
  };
  try {
    for (const name of listEmbedded(config, service)) {
      held.push(lockStore(config.dataDir, name, log));
    }
  } catch (error) {
    unlock();
    throw error;
  }
  return unlock;
}

function listEmbedded({ value }: ProgramConfig, service: ServiceName | undefined): readonly CalledService[] {
  const sections = value as Readonly<Record<CalledService, { readonly database?: string }>>;
  return CALLED_SERVICES.filter((name) => (service ?? name) === name && sections[name].database === undefined);
}

function lockStore(dataDir: string, name: CalledService, log: Log): () => void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = lockFile(path.join(dataDir, `${name}.lock`));
  if ('unlock' in lock) return lock.unlock;
  if (lock.isTaken)
    throw new ConfigError(
      `data_dir: another program uses the store of ${name} in ${dataDir}; stop that program, or give this one a ` +
        'data_dir of its own',
    );
  // the store itself reports the operations that need locks
  log.warn({ err: lock.error, dataDir }, 'data_dir has no locks: a second program would not be refused');
  return () => undefined;
}
