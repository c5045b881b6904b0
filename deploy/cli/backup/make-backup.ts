import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { CLAIMED_CONTENT, blobFolder, blobKeysIn, blobPath } from '@reelgate/media/app';
import { mediaConfig } from '@reelgate/media/config';
import { systemClock } from '@reelgate/platform/clock';
import { storeFile } from '@reelgate/platform/sql/open-store';
import { snapshotSqlite } from '@reelgate/platform/sql/sqlite-snapshot';
import type { SqliteSnapshot } from '@reelgate/platform/sql/sqlite-snapshot';
import { CALLED_SERVICES } from '../../program/config/program-config.ts';
import type { ProgramConfig } from '../../program/config/program-config.ts';
import { readAcceptedKeys } from '../../program/keys/service-key.ts';
import { SIGNING_KEY_FILE } from '../../program/keys/signing-key.ts';
import { CommandFailed } from '../command.ts';
import {
  copyWhole,
  describeFile,
  flush,
  flushFolders,
  linkOrCopy,
  listNames,
  remove,
  readSize,
} from './file-copies.ts';
import type { BackedUpFile } from './file-copies.ts';
import { computeFingerprint, writeManifest } from './manifest.ts';
import type { Manifest } from './manifest.ts';

/**
 * The number of snapshots to try. Bytes that end between the copy of the bytes and the snapshot are gone, but another
 * snapshot no longer claims them.
 */
const SNAPSHOTS_MAX = 5;
const PROGRESS_STEP = 1000;
export const BLOBS = 'blobs';

interface ClaimedBlob {
  readonly storage_key: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface BackupResult {
  readonly manifest: Manifest;
  readonly bytes: number;
}

/**
 * Backs up the embedded stores of one program while it works. The copies show the stores at one moment, as if the
 * program had been killed then: its next start is the recovery that follows every kill. Stored bytes never change under
 * their name, and are stored before a row claims them. So the bytes are copied first, and bytes that were claimed in
 * the meantime follow after the snapshot. The manifest comes last.
 */
export async function makeBackup(
  config: ProgramConfig,
  folder: string,
  progress: (text: string) => void,
): Promise<BackupResult> {
  if ((await listNames(folder)).length > 0)
    throw new CommandFailed(`${folder}: has files already; expected an empty or a new folder`);
  const stores = CALLED_SERVICES.map((name) => storeFile({ dataDir: config.dataDir, name }));
  for (const store of stores)
    if ((await readSize(store)) === undefined)
      throw new CommandFailed(`${store}: does not exist; run the backup where the one program has its data_dir`);
  await mkdir(path.join(folder, BLOBS), { recursive: true, mode: 0o700 });
  const blobs = blobFolder(mediaConfig(config.value).blobs, config.dataDir);
  const { files, lost } = await copyAll({ folder, stores, blobs, progress });
  const [signingKey] = readAcceptedKeys(config).signatures;
  if (await copyWhole(path.join(config.dataDir, SIGNING_KEY_FILE), path.join(folder, SIGNING_KEY_FILE)))
    files.push(await describeFile(folder, SIGNING_KEY_FILE));
  await flushFolders(folder);
  const manifest: Manifest = {
    made_at: new Date(systemClock.now()).toISOString(),
    signing_key: computeFingerprint(signingKey),
    has_blobs: blobs !== undefined,
    files,
    lost,
  };
  await writeManifest(folder, manifest);
  return { manifest, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
}

interface CopyJob {
  readonly folder: string;
  readonly stores: readonly string[];
  /** Undefined if the bytes are in a bucket. */
  readonly blobs: string | undefined;
  readonly progress: (text: string) => void;
}

interface CopyResult {
  readonly files: BackedUpFile[];
  readonly lost: readonly string[];
}

async function copyAll(job: CopyJob): Promise<CopyResult> {
  for (let taken = 1; ; taken += 1) {
    if (job.blobs !== undefined) await linkBlobs(job.blobs, job);
    const snapshot = await snapshotSqlite(job.stores, systemClock);
    try {
      const claimed = job.blobs === undefined ? [] : listClaimedBlobs(snapshot, job.stores);
      const missing = await findMissing(claimed, job);
      if (missing.length > 0 && taken < SNAPSHOTS_MAX) continue;
      return await copyStores(snapshot, { job, claimed, missing });
    } finally {
      snapshot.close();
    }
  }
}

async function linkBlobs(from: string, { folder, progress }: CopyJob): Promise<void> {
  let linked = 0;
  for await (const key of blobKeysIn(from)) {
    await linkOrCopy(path.join(from, blobPath(key)), path.join(folder, BLOBS, blobPath(key)));
    linked += 1;
    if (linked % PROGRESS_STEP === 0) progress(`${linked} blobs`);
  }
}

function listClaimedBlobs(snapshot: SqliteSnapshot, stores: readonly string[]): readonly ClaimedBlob[] {
  return snapshot
    .read(stores[CALLED_SERVICES.indexOf('media')] ?? '', CLAIMED_CONTENT)
    .map(({ storage_key: key, bytes, sha256 }) => ({
      storage_key: String(key),
      bytes: Number(bytes),
      sha256: String(sha256),
    }));
}

/** The claimed bytes that neither the backup nor the program has, or that have another size. */
async function findMissing(
  claimed: readonly ClaimedBlob[],
  { folder, blobs = '' }: CopyJob,
): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const { storage_key: key, bytes } of claimed) {
    const to = path.join(folder, BLOBS, blobPath(key));
    await linkOrCopy(path.join(blobs, blobPath(key)), to);
    if ((await readSize(to)) !== bytes) missing.push(key);
  }
  return missing;
}

interface SnapshotParts {
  readonly job: CopyJob;
  readonly claimed: readonly ClaimedBlob[];
  readonly missing: readonly string[];
}

async function copyStores(snapshot: SqliteSnapshot, { job, claimed, missing }: SnapshotParts): Promise<CopyResult> {
  const { folder, stores, progress } = job;
  const lost = new Set(missing);
  const files: BackedUpFile[] = [];
  for (const store of stores) {
    const name = path.basename(store);
    progress(name);
    await snapshot.copy(store, path.join(folder, name));
    await flush(path.join(folder, name));
    files.push(await describeFile(folder, name));
  }
  const kept = claimed.filter(({ storage_key: key }) => !lost.has(key));
  await removeOthers(folder, new Set(kept.map(({ storage_key: key }) => key)));
  files.push(
    ...kept.map(({ storage_key: key, bytes, sha256 }) => ({ path: path.join(BLOBS, blobPath(key)), bytes, sha256 })),
  );
  return { files, lost: missing };
}

/** The backup keeps no bytes that its stores do not claim. */
async function removeOthers(folder: string, keys: ReadonlySet<string>): Promise<void> {
  const blobs = path.join(folder, BLOBS);
  for await (const key of blobKeysIn(blobs)) if (!keys.has(key)) await remove(path.join(blobs, blobPath(key)));
}
