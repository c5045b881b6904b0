import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import type { Stats } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '@reelgate/platform/config/config-file';

const OF_OTHERS = 0o077;
const STICKY = 0o1000;
const ROOT = 0;
/** The maximum number of entries that one start changes. The next start continues. */
const CHANGES_MAX = 100_000;

export interface Repair {
  /** The number of entries that others could read, and that are private now. */
  readonly repaired: number;
  /** The number of entries that others can still read. */
  readonly left: number;
}

/**
 * Closes the data folder and its content to other users. A folder becomes private after its content, so an interrupted
 * repair continues at the next start, and a private folder is not searched. The data folder itself comes first: from
 * then on other users cannot reach its content.
 */
export function keepPrivate(folder: string): Repair {
  const found = readStats(folder);
  const repair = { repaired: 0, left: 0 };
  if (found === undefined || process.getuid === undefined) return repair;
  assertOwn(folder, found, process.getuid());
  if (!isVolume(found)) change(folder, found, repair);
  for (const name of readdirSync(folder)) repairEntry(path.join(folder, name), repair);
  return repair;
}

type RepairCount = { -readonly [K in keyof Repair]: Repair[K] };

function repairEntry(entry: string, repair: RepairCount): void {
  const found = readStats(entry);
  // a link has no mode of its own, and its target is not in this folder
  if (found === undefined || found.isSymbolicLink() || (found.mode & OF_OTHERS) === 0) return;
  if (found.isDirectory()) for (const name of listNames(entry)) repairEntry(path.join(entry, name), repair);
  change(entry, found, repair);
}

function change(entry: string, { mode }: Stats, repair: RepairCount): void {
  if ((mode & OF_OTHERS) === 0) return;
  if (repair.repaired < CHANGES_MAX && makePrivate(entry, mode)) repair.repaired += 1;
  else repair.left += 1;
}

/** Returns false if the entry belongs to another user, as the root of a volume does, or cannot be written. */
function makePrivate(entry: string, mode: number): boolean {
  try {
    chmodSync(entry, mode & 0o7777 & ~OF_OTHERS);
    return true;
  } catch {
    return false;
  }
}

/** Another user could put a signing key there that it knows. Root could do so anyway, and owns the roots of volumes. */
function assertOwn(folder: string, { mode, uid }: Stats, self: number): void {
  if ((mode & STICKY) !== 0)
    throw new ConfigError(`data_dir: expected a folder of its own; ${folder} is shared by all users`);
  if (self !== ROOT && uid !== self && uid !== ROOT)
    throw new ConfigError(`data_dir: expected a folder of the user ${self}; ${folder} belongs to the user ${uid}`);
}

/**
 * Recognizes the root of a volume, which belongs to root and to a group of this user. It lets others only list names.
 */
function isVolume({ uid }: Stats): boolean {
  return uid === ROOT && process.getuid?.() !== ROOT;
}

/** The entries of a folder that other users can read, among its first `searchedMax` entries. */
export function findShared(folder: string, searchedMax: number): readonly string[] {
  const shared: string[] = [];
  const queue = [folder];
  for (let searched = 0; searched < searchedMax && queue.length > 0; searched += 1) {
    const entry = queue.shift() ?? folder;
    const found = readStats(entry);
    if (found === undefined || found.isSymbolicLink()) continue;
    if ((found.mode & OF_OTHERS) !== 0 && !(entry === folder && isVolume(found))) shared.push(entry);
    if (found.isDirectory()) for (const name of listNames(entry)) queue.push(path.join(entry, name));
  }
  return shared;
}

/** Returns undefined if the entry is gone or never existed. */
function readStats(entry: string): Stats | undefined {
  return lstatSync(entry, { throwIfNoEntry: false });
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
