import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { OpenLogSync } from '@reelgate/platform/sql/sqlite-log-sync';
import type { Draws } from './draws.ts';
import type { Faults } from './faults.ts';
import type { Scheduler } from './scheduler.ts';

const MEMORY = '/dev/shm';
const LOG = '-wal';
const SQLITE_FULL = 13;
const SYNC_MS_MAX = 12;
const SLOW_SYNC_MS_MAX = 3000;
const SLOW_SYNCS = 0.01;
const FAILED_SYNCS = 0.002;
const FULL_DISKS = 0.004;

export type CrashKind = 'kill' | 'power cut';

/**
 * The disk of the machine: real SQLite files in memory, whose logs lose what was not synced. SQLite begins a log of 16 MiB
 * anew without making it shorter. From then on a power cut loses nothing of it, like a kill.
 */
export interface SimulatedDisk {
  /** The folder of everything that outlives the processes. */
  readonly root: string;
  /** The folder of the files of the running process. */
  readonly folder: () => string;
  readonly openLog: OpenLogSync;
  /** The process has died: it leaves its files as they are, or a power cut cuts their logs. */
  crash(kind: CrashKind): void;
  remove(): void;
}

export interface DiskOptions {
  readonly scheduler: Scheduler;
  readonly draws: Draws;
  readonly faults: Faults;
  readonly log: (text: string) => void;
  /** Called right after each commit, before its sync. */
  readonly onCommit: () => void;
  /** Called when a sync has failed: the process is of no use from then on. */
  readonly onFailedSync: () => void;
}

export function openSimulatedDisk(options: DiskOptions): SimulatedDisk {
  const { scheduler, draws, faults, log } = options;
  const root = mkdtempSync(path.join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'reelgate-simulation-'));
  /** The bytes of each log that are on the disk. */
  const synced = new Map<string, number>();
  const handles = new Set<DatabaseSync>();
  let [boot, syncs, crashes] = [1, 0, 0];
  const folder = (): string => path.join(root, `boot-${boot}`);
  const measureLog = (name: string): number => {
    const file = path.join(folder(), `${name}${LOG}`);
    return existsSync(file) ? statSync(file).size : 0;
  };
  mkdirSync(folder());
  watchDatabases({ ...options, handles, synced });

  const openLog: OpenLogSync = async (file) => {
    const name = path.basename(file);
    const sync = (): Promise<void> => {
      syncs += 1;
      const choice = `disk sync ${syncs}`;
      const bytes = measureLog(name);
      const isSlow = faults.happens('slow sync', choice, SLOW_SYNCS);
      const fails = faults.happens('failed sync', choice, FAILED_SYNCS);
      return new Promise((resolve, reject) => {
        scheduler.after(
          draws.whole(`${choice} ms`, 1, isSlow ? SLOW_SYNC_MS_MAX : SYNC_MS_MAX),
          scheduler.current(),
          () => {
            if (fails) {
              log(`the sync of ${name} failed`);
              options.onFailedSync();
              reject(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }));
              return;
            }
            synced.set(name, Math.max(synced.get(name) ?? 0, bytes));
            resolve();
          },
        );
      });
    };
    return { sync, close: async () => undefined };
  };
  const copyFile = (name: string, from: string, kind: CrashKind): void => {
    const to = path.join(folder(), name);
    copyFileSync(path.join(from, name), to);
    if (kind === 'kill' || !name.endsWith(LOG)) return;
    const database = name.slice(0, -LOG.length);
    const most = statSync(to).size;
    const least = Math.min(synced.get(database) ?? 0, most);
    const left = draws.whole(`disk cut ${crashes} ${database}`, least, most);
    truncateSync(to, left);
    synced.set(database, left);
    log(`the log of ${database} keeps ${left} of ${most} bytes, of which ${least} were synced`);
  };
  return {
    root,
    folder,
    openLog,
    crash: (kind) => {
      const before = folder();
      crashes += 1;
      boot += 1;
      mkdirSync(folder());
      for (const name of readdirSync(before).sort()) if (!name.endsWith('-shm')) copyFile(name, before, kind);
      // closed only now: the last close would copy the log into the database
      for (const handle of handles) close.call(handle);
      handles.clear();
      rmSync(before, { recursive: true });
    },
    remove: () => {
      for (const handle of handles) close.call(handle);
      handles.clear();
      rmSync(root, { recursive: true });
    },
  };
}

interface WatchOptions extends DiskOptions {
  readonly handles: Set<DatabaseSync>;
  readonly synced: Map<string, number>;
}

const { exec, close } = DatabaseSync.prototype;

/** Knows every open database, and lets a commit meet a full disk. */
function watchDatabases({ faults, log, handles, synced, onCommit }: WatchOptions): void {
  let commits = 0;
  DatabaseSync.prototype.exec = function execWatched(this: DatabaseSync, sql: string): void {
    handles.add(this);
    if (sql === 'COMMIT') {
      commits += 1;
      if (faults.happens('full disk', `disk commit ${commits}`, FULL_DISKS)) {
        exec.call(this, 'ROLLBACK');
        log(`a commit of ${path.basename(this.location() ?? '')} met a full disk`);
        throw Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: SQLITE_FULL });
      }
    }
    exec.call(this, sql);
    if (sql === 'COMMIT') onCommit();
  };
  DatabaseSync.prototype.close = function closeWatched(this: DatabaseSync): void {
    // The last close by the product copies the whole log into the database, syncs it, and removes the log.
    if (handles.delete(this)) synced.delete(path.basename(this.location() ?? ''));
    close.call(this);
  };
}
