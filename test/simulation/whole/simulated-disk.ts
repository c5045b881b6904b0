import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import type { OpenLogSync } from '@reelgate/platform/sql/sqlite-log-sync';
import type { Draws } from './draws.ts';
import type { Fault, Faults } from './faults.ts';
import type { Scheduler } from './scheduler.ts';
import { openSimulatedLog } from './simulated-log.ts';
import type { SimulatedLog } from './simulated-log.ts';
import { listStoreFiles } from './store-files.ts';
import { writeSomePages } from './written-pages.ts';

const MEMORY = '/dev/shm';
const LOG = '-wal';
const SQLITE_FULL = 13;
const SQLITE_IOERR_WRITE = 778;
const WRITES = /^\s*(INSERT|UPDATE|DELETE|WITH)\b/;
const SYNC_MS_MAX = 12;
const SLOW_SYNC_MS_MAX = 3000;
/** The faults that end a process happen to the first step of a window: two similar runs differ in the number of steps. */
const WINDOW_MS = 100;
const CHECKPOINT_WINDOW_MS = 5000;
const SLOW_SYNCS = 0.01;
const FAILED_SYNCS = 0.005;
const FULL_DISKS = 0.01;
const FULL_WRITES = 0.005;
const UNCERTAIN_COMMITS = 0.003;
const COMMIT_FAULTS: readonly Fault[] = ['full disk', 'uncertain commit'];
const SCATTERED_CUTS = 0.5;
const CUT_CHECKPOINTS = 0.15;
/** The bytes at which a log is copied into its database: 40, 100 or 250 of its frames. */
const LOG_BYTES_MAX = [40, 100, 250].map((frames) => frames * 4120);

export type CrashKind = 'kill' | 'power cut';

/**
 * The disk of the machine: real SQLite files in memory, which lose what was not synced. The simulation makes the
 * checkpoints, right after a commit, as SQLite would do with a shorter limit: SQLite syncs the log, copies its pages into
 * the database, and syncs the database, so a power cut between the two syncs leaves some of the copied pages.
 */
export interface SimulatedDisk {
  /** The folder of everything that outlives the processes. */
  readonly root: string;
  /** The folder of the files of the running process. */
  readonly folder: () => string;
  readonly openLog: OpenLogSync;
  /** The process has died of the crash of this name: it leaves its files as they are, or a power cut cuts their logs. */
  crash(kind: CrashKind, cause: string): void;
  /** The files of a folder are put in the place of those of the process, which has died. */
  restore(from: string): void;
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
  readonly onFailedSync: (choice: string) => void;
  /** Called when the process dies in the middle of a step of its disk, before the next moment. */
  readonly crashNow: (kind: CrashKind, cause: string) => void;
}

/** A power cut between the copy of a log into its database and the sync of the database. */
interface CutCheckpoint {
  readonly name: string;
  readonly at: number;
  readonly before: Buffer;
  readonly after: Buffer;
  readonly log: Buffer;
}

export function openSimulatedDisk(options: DiskOptions): SimulatedDisk {
  const { scheduler, draws, faults, log } = options;
  const root = mkdtempSync(path.join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'reelgate-simulation-'));
  const logs = new Map<string, SimulatedLog>();
  const handles = new Map<DatabaseSync, OpenDatabase>();
  let cutCheckpoint: CutCheckpoint | undefined;
  let boot = 1;
  let folder = path.join(root, `boot-${boot}`);
  const openLog = (name: string, left?: Buffer): SimulatedLog => {
    logs.get(name)?.close();
    const opened = openSimulatedLog(() => `${folder}/${name}${LOG}`, left);
    logs.set(name, opened);
    return opened;
  };
  const findLog = (name: string): SimulatedLog => logs.get(name) ?? openLog(name);
  const logBytesMax = draws.pick('disk log bytes', LOG_BYTES_MAX);
  const checkpoint = (handle: DatabaseSync, { name, file }: OpenDatabase): void => {
    const own = findLog(name);
    if (own.findEnd().end < logBytesMax) return;
    const choice = scheduler.nameFirst(`checkpoint of ${name}`, CHECKPOINT_WINDOW_MS);
    const isCut =
      choice !== undefined && faults.isOn('power cut') && faults.happens('cut checkpoint', choice, CUT_CHECKPOINTS);
    const before = isCut ? readFileSync(file) : undefined;
    exec.call(handle, 'PRAGMA wal_checkpoint(PASSIVE)');
    own.syncAll();
    if (before === undefined || choice === undefined) return;
    const now = scheduler.now();
    cutCheckpoint = { name, at: now, before, after: readFileSync(file), log: readFileSync(`${file}${LOG}`) };
    log(`the power is cut during the copy of the log of ${name}`);
    options.crashNow('power cut', choice);
  };
  mkdirSync(folder);
  watchDatabases({ ...options, handles, logs, checkpoint, isOwn: (file) => path.dirname(file) === folder });

  /** Returns what a power cut leaves of a file; undefined: all of it. */
  const readLeft = (name: string, cause: string): Buffer | undefined => {
    const database = name.endsWith(LOG) ? name.slice(0, -LOG.length) : name;
    const cut = cutCheckpoint?.name === database && cutCheckpoint.at === scheduler.now() ? cutCheckpoint : undefined;
    const choice = `disk after ${cause} ${name}`;
    if (name === database) return cut && writeSomePages(draws, choice, { ...cut, from: 0 });
    if (cut !== undefined) return cut.log;
    const isScattered = faults.happens('scattered pages', choice, SCATTERED_CUTS);
    const { bytes, said } = findLog(database).cut(choice, { draws, isScattered });
    log(`the log of ${database} ${said}`);
    return bytes;
  };
  /** Begins the folder of the next process. A file without bytes is copied whole. */
  const beginFolder = (from: string, files: ReadonlyMap<string, Buffer | undefined>): void => {
    boot += 1;
    folder = path.join(root, `boot-${boot}`);
    mkdirSync(folder);
    for (const [name, bytes] of files) {
      const file = path.join(folder, name);
      if (bytes === undefined) copyFileSync(path.join(from, name), file);
      else writeFileSync(file, bytes);
    }
  };
  const crash: SimulatedDisk['crash'] = (kind, cause) => {
    const before = folder;
    const names = listStoreFiles(before);
    const leftOf = new Map(names.map((name) => [name, kind === 'kill' ? undefined : readLeft(name, cause)]));
    beginFolder(before, leftOf);
    cutCheckpoint = undefined;
    if (kind === 'power cut') for (const name of logs.keys()) openLog(name, leftOf.get(`${name}${LOG}`));
    rmSync(before, { recursive: true });
    // closed only now: the last close copies the log into the database
    for (const handle of handles.keys()) close.call(handle);
    handles.clear();
  };
  return {
    root,
    folder: () => folder,
    openLog: openLogs(options, findLog),
    crash,
    restore: (from) => {
      const before = folder;
      const files = new Map(listStoreFiles(from).map((name) => [name, readFileSync(path.join(from, name))]));
      beginFolder(from, files);
      for (const name of logs.keys()) openLog(name, files.get(`${name}${LOG}`) ?? Buffer.alloc(0));
      rmSync(before, { recursive: true });
    },
    remove: () => {
      rmSync(root, { recursive: true });
      for (const own of logs.values()) own.close();
      for (const handle of handles.keys()) close.call(handle);
      handles.clear();
    },
  };
}

/** Syncs a log after a time, or fails. */
function openLogs(
  { scheduler, draws, faults, log, onFailedSync }: DiskOptions,
  findLog: (name: string) => SimulatedLog,
): OpenLogSync {
  return async (file) => {
    const name = path.basename(file);
    const own = findLog(name);
    own.findEnd();
    const sync = (): Promise<void> => {
      const choice = scheduler.nameMoment(`sync of ${name}`);
      const place = own.findEnd();
      const isSlow = faults.happens('slow sync', choice, SLOW_SYNCS);
      const first = scheduler.nameFirst(`sync of ${name}`, WINDOW_MS);
      const fails = first !== undefined && faults.happens('failed sync', first, FAILED_SYNCS);
      const ms = draws.whole(`${choice} ms`, 1, isSlow ? SLOW_SYNC_MS_MAX : SYNC_MS_MAX);
      return new Promise((resolve, reject) => {
        scheduler.after(ms, scheduler.current(), () => {
          if (fails && first !== undefined) {
            log(`the sync of ${name} failed`);
            onFailedSync(first);
            reject(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }));
            return;
          }
          own.sync(place);
          resolve();
        });
      });
    };
    return { sync, close: async () => undefined };
  };
}

/** A database that a process has open. */
interface OpenDatabase {
  readonly name: string;
  readonly file: string;
  readonly isOnDisk: boolean;
}

interface WatchOptions extends DiskOptions {
  readonly handles: Map<DatabaseSync, OpenDatabase>;
  readonly logs: Map<string, SimulatedLog>;
  /** Copies a long log into its database. */
  readonly checkpoint: (handle: DatabaseSync, database: OpenDatabase) => void;
  /** Reports whether a file is on this disk. */
  readonly isOwn: (file: string) => boolean;
}

const { exec, prepare, close } = DatabaseSync.prototype;
const { all, run } = StatementSync.prototype;

/** Knows every open database, lets writes and commits fail, and makes checkpoints. */
function watchDatabases(options: WatchOptions): void {
  const { handles, logs, onCommit, checkpoint, isOwn } = options;
  const findDatabase = (handle: DatabaseSync): OpenDatabase => {
    const known = handles.get(handle);
    if (known !== undefined) return known;
    const file = handle.location() ?? '';
    const database = { name: path.basename(file), file, isOnDisk: isOwn(file) };
    handles.set(handle, database);
    return database;
  };
  const failCommit = openCommitFaults(options);
  const failWrite = openWriteFaults(options);
  DatabaseSync.prototype.exec = function execWatched(this: DatabaseSync, sql: string): void {
    const database = findDatabase(this);
    if (sql === 'COMMIT') failCommit(this, database);
    exec.call(this, sql);
    if (sql.includes('wal_autocheckpoint') && database.isOnDisk) exec.call(this, 'PRAGMA wal_autocheckpoint = 0');
    if (sql !== 'COMMIT') return;
    if (database.isOnDisk) checkpoint(this, database);
    onCommit();
  };
  DatabaseSync.prototype.prepare = function prepareWatched(this: DatabaseSync, sql: string) {
    const statement = prepare.call(this, sql);
    if (!WRITES.test(sql) || handles.get(this)?.isOnDisk !== true) return statement;
    return Object.assign(statement, {
      all: (...values: Parameters<typeof all>) => {
        failWrite(this);
        return all.apply(statement, values);
      },
      run: (...values: Parameters<typeof run>) => {
        failWrite(this);
        return run.apply(statement, values);
      },
    });
  };
  DatabaseSync.prototype.close = function closeWatched(this: DatabaseSync): void {
    // The last close by the product copies the whole log into the database, syncs it, and removes the log.
    const name = path.basename(this.location() ?? '');
    if (handles.delete(this)) {
      logs.get(name)?.close();
      logs.delete(name);
    }
    close.call(this);
  };
}

/**
 * Lets a commit meet a full disk, or an error that does not tell whether the log has the commit. SQLite takes such a
 * commit back, and the next one overwrites it. It counts only if the process dies before.
 */
function openCommitFaults({ scheduler, faults, draws, log, crashNow }: DiskOptions) {
  return (handle: DatabaseSync, { name, isOnDisk }: OpenDatabase): void => {
    if (!COMMIT_FAULTS.some((fault) => faults.isOn(fault))) return;
    const choice = scheduler.nameFirst(`commit to ${name}`, WINDOW_MS);
    if (choice === undefined) return;
    if (faults.happens('full disk', choice, FULL_DISKS)) {
      exec.call(handle, 'ROLLBACK');
      log(`a commit of ${name} met a full disk`);
      throw newSqliteError('database or disk is full', SQLITE_FULL);
    }
    if (!isOnDisk || !faults.happens('uncertain commit', choice, UNCERTAIN_COMMITS)) return;
    const isWritten = draws.happens(`${choice} is written`, 0.5);
    exec.call(handle, isWritten ? 'COMMIT' : 'ROLLBACK');
    log(`a commit of ${name} failed, and ${isWritten ? 'is in its log' : 'is not in its log'}`);
    if (isWritten) crashNow('kill', choice);
    throw newSqliteError('disk I/O error', SQLITE_IOERR_WRITE);
  };
}

/** Lets a statement meet a full disk, which ends its transaction. */
function openWriteFaults({ scheduler, faults, log, handles }: WatchOptions) {
  return (handle: DatabaseSync): void => {
    if (!faults.isOn('full disk at a write')) return;
    const name = handles.get(handle)?.name ?? '';
    const choice = scheduler.nameFirst(`write to ${name}`, WINDOW_MS);
    if (choice === undefined || !faults.happens('full disk at a write', choice, FULL_WRITES)) return;
    if (handle.isTransaction) exec.call(handle, 'ROLLBACK');
    log(`a statement of ${name} met a full disk`);
    throw newSqliteError('database or disk is full', SQLITE_FULL);
  };
}

function newSqliteError(message: string, errcode: number): Error {
  return Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode });
}
