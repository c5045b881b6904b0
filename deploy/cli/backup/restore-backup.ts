import { mkdir, rename, rmdir } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { gatewayConfig } from '@reelgate/gateway/config';
import { blobFolder } from '@reelgate/media/app';
import { mediaConfig } from '@reelgate/media/config';
import type { HostPort } from '@reelgate/platform/config/units';
import { checkStore } from '@reelgate/platform/sql/migrate-store';
import { storeFile } from '@reelgate/platform/sql/open-store';
import { CALLED_SERVICES } from '../../program/config/program-config.ts';
import type { ProgramConfig } from '../../program/config/program-config.ts';
import { SIGNING_KEY_FILE } from '../../program/keys/signing-key.ts';
import { buildRestorePath } from '../../program/config/read-config.ts';
import { CommandFailed } from '../command.ts';
import { readStoreSettings } from '../service-stores.ts';
import { copyWhole, describeFile, flush, flushFolders, listNames, remove } from './file-copies.ts';
import type { BackedUpFile } from './file-copies.ts';
import { BLOBS } from './make-backup.ts';
import { computeFingerprint, readManifest } from './manifest.ts';
import type { Manifest } from './manifest.ts';

const ANSWER_MS_MAX = 1000;
const EVERY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/**
 * Restores a backup into an empty data folder. Every file is compared with its digest. The stores get their names last,
 * and no program starts on a folder with an interrupted restore. A failed restore leaves the folder empty.
 */
export async function restoreBackup(
  config: ProgramConfig,
  folder: string,
  progress: (text: string) => void,
): Promise<Manifest> {
  const manifest = readManifest(folder);
  const blobs = blobFolder(mediaConfig(config.value).blobs, config.dataDir);
  assertWhole(folder, manifest);
  if (manifest.has_blobs !== (blobs !== undefined))
    throw new CommandFailed(
      `media.blobs: the bytes of the backup are in ${manifest.has_blobs ? 'a folder' : 'a bucket'}; expected the same`,
    );
  assertSigningKey(config, manifest);
  await assertStopped(config);
  const targets = [...new Set([config.dataDir, blobs ?? config.dataDir])];
  for (const target of targets) await assertEmpty(target);
  try {
    await restoreFiles(config, { folder, manifest, blobs, progress });
  } catch (error) {
    for (const target of targets) for (const name of await listNames(target)) await remove(path.join(target, name));
    throw error;
  }
  return manifest;
}

interface RestoreJob {
  readonly folder: string;
  readonly manifest: Manifest;
  /** Undefined if the bytes are in a bucket. */
  readonly blobs: string | undefined;
  readonly progress: (text: string) => void;
}

async function restoreFiles(config: ProgramConfig, { folder, manifest, blobs, progress }: RestoreJob): Promise<void> {
  const staged = buildRestorePath(config.dataDir);
  await mkdir(staged, { recursive: true, mode: 0o700 });
  await flush(config.dataDir);
  const isBlob = ({ path: name }: BackedUpFile): boolean => name.startsWith(BLOBS + path.sep);
  for (const file of manifest.files) if (!isBlob(file)) await restoreFile(folder, file, path.join(staged, file.path));
  for (const service of CALLED_SERVICES)
    await checkStore({ ...readStoreSettings(config, service), url: undefined, dataDir: staged });
  if (blobs !== undefined) {
    await mkdir(blobs, { recursive: true, mode: 0o700 });
    for (const [at, file] of manifest.files.entries()) {
      progress(`${at} of ${manifest.files.length} files`);
      if (isBlob(file)) await restoreFile(folder, file, path.join(blobs, path.relative(BLOBS, file.path)));
    }
    await flushFolders(blobs);
  }
  for (const name of await listNames(staged)) await rename(path.join(staged, name), path.join(config.dataDir, name));
  await rmdir(staged);
  await flush(config.dataDir);
}

function assertWhole(folder: string, { files }: Manifest): void {
  const paths = new Set(files.map((file) => file.path));
  const missing = CALLED_SERVICES.map((name) => path.basename(storeFile({ dataDir: '', name }))).filter(
    (name) => !paths.has(name),
  );
  if (missing.length > 0) throw new CommandFailed(`${folder}: the backup has no ${missing.join(', ')}`);
}

async function restoreFile(folder: string, { path: name, bytes, sha256 }: BackedUpFile, to: string): Promise<void> {
  if (!(await copyWhole(path.join(folder, name), to))) throw new CommandFailed(`${folder}: ${name} is missing`);
  const found = await describeFile(path.dirname(to), path.basename(to));
  if (found.bytes === bytes && found.sha256 === sha256) return;
  await remove(to);
  throw new CommandFailed(`${folder}: ${name} is damaged: its content is not the one that was backed up`);
}

/** Refuses another key, under which the tokens and links of the backup would be invalid. */
function assertSigningKey({ file, signingKey }: ProgramConfig, manifest: Manifest): void {
  if (signingKey === undefined) {
    if (manifest.files.some((one) => one.path === SIGNING_KEY_FILE)) return;
    throw file.fault(
      ['signing_key'],
      'the backup was written under a configured key, which it does not contain; expected that key',
    );
  }
  if (computeFingerprint(signingKey) !== manifest.signing_key)
    throw file.fault(['signing_key'], 'the backup was written under another key; expected that key');
}

async function assertEmpty(folder: string): Promise<void> {
  const names = await listNames(folder);
  if (names.length > 0)
    throw new CommandFailed(
      `${folder}: has files already, such as ${names[0] ?? ''}; expected an empty or a new folder`,
    );
}

/** Refuses a running program, which keeps its ports open even if its folder was removed. */
async function assertStopped({ ports, value }: ProgramConfig): Promise<void> {
  const { listen, admin } = gatewayConfig(value);
  const addresses = [listen, admin, ...Object.values(ports).flatMap(({ rpc, http }) => [rpc, http])];
  for (const address of addresses)
    if (address !== undefined && (await isAnswered(address)))
      throw new CommandFailed(`${address.host}:${address.port} is in use; stop the program before a restore`);
}

function isAnswered({ host, port }: HostPort): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: EVERY_ADDRESS[host] ?? host, port, timeout: ANSWER_MS_MAX });
    const end = (answered: boolean) => () => {
      socket.destroy();
      resolve(answered);
    };
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false));
  });
}
