import type { Readable } from 'node:stream';
import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import type { Problem } from '@reelgate/platform/problem';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { ListFilesResponseSchema } from '@reelgate/proto/media/v1/file_service';
import type { ListFilesRequest, ListFilesResponse, StoredFile } from '@reelgate/proto/media/v1/file_service';
import { formatBytes } from '../../domain/media-rules.ts';
import type { FilePurpose, FileReservation, FileStore } from '../../store/media-store.ts';
import { receiveBytes } from '../bytes/put-bytes.ts';
import type { ReceiveDeps } from '../bytes/put-bytes.ts';
import { keepReserved } from '../bytes/reserve-bytes.ts';
import { removeBytes } from '../garbage/collect-garbage.ts';
import type { CollectDeps } from '../garbage/collect-garbage.ts';
import { mediaBusy } from '../media-refusals.ts';
import type { FileSettings } from './file-settings.ts';
import { refuse } from '../../refusals.ts';

/** From the reservation to the first byte, and from the last byte to the commit. */
const RESERVED_MS = 60_000;
/** Bytes that are not committed stay this long, even if their reservation ends earlier. */
const UNCOMMITTED_MS = 3_600_000;
/** The maximum number of bytes that a batch writes into one file: 50,000 lines of 10 KiB. */
const OUTPUT_BYTES_MAX = 512 * 1024 * 1024;
const CONTROL_CHARACTERS = /[\p{Cc}\p{Cf}]/gu;

export interface FileDeps {
  readonly store: FileStore;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly files: FileSettings;
}

export interface FileOrder {
  readonly accountId: string;
  readonly purpose: FilePurpose;
  /** The maximum number of bytes that will arrive, undefined if it is unknown. */
  readonly bytes: number | undefined;
  /** A name that the account uses for this file alone: the same key returns the same file. */
  readonly key: string | undefined;
}

export type ReservedFile =
  | { readonly kind: 'reserved'; readonly id: string; readonly bytesMax: number }
  | { readonly kind: 'exists'; readonly file: StoredFile };

/** Counts a file before its first byte. Refuses an account that has as many files or bytes as it may have. */
export async function reserveFile(
  { store, clock, newId, files }: FileDeps,
  { accountId, purpose, bytes = Infinity, key }: FileOrder,
): Promise<ReservedFile> {
  const now = clock.now();
  const bytesMax = purpose === 'batch' ? files.bytesMax : OUTPUT_BYTES_MAX;
  const reservation = {
    id: newId('file'),
    accountId,
    purpose,
    bytes: Math.min(bytes, bytesMax),
    key,
    expiresAt: now + RESERVED_MS,
  };
  // the work that an output belongs to is paid, so its result is never refused
  const bounds = purpose === 'batch' ? { filesMax: files.accountFilesMax, bytesMax: files.accountBytesMax } : undefined;
  const result = await store.reserveFile(reservation, now, bounds);
  if (result.kind === 'full') throw accountFull(files);
  return result.kind === 'exists' ? result : { kind: 'reserved', id: result.reservation.id, bytesMax };
}

/** Refuses an account whose stored bytes, of files and of everything else, have reached its limit. */
export async function assertFileRoom(
  { store, clock, files }: Pick<FileDeps, 'store' | 'clock' | 'files'>,
  accountId: string,
  otherBytes: number,
): Promise<void> {
  const used = await store.countFiles(accountId, clock.now());
  if (used.files >= files.accountFilesMax || used.bytes + otherBytes >= files.accountBytesMax) throw accountFull(files);
}

/**
 * Receives the bytes of a reserved file. They become a private object under the id of the file, which expires if it is
 * not committed. A second delivery for one id is ignored: the first bytes stay. Returns the number of bytes.
 */
export async function receiveFile(
  deps: FileDeps & ReceiveDeps,
  source: Readable,
  { accountId, id }: { readonly accountId: string; readonly id: string },
): Promise<number> {
  const reservation = await requireFileReservation(deps, accountId, id);
  const received = new AbortController();
  const renew = (expiresAt: number): Promise<void> => deps.store.renewReservation(id, expiresAt);
  const keeping = keepReserved(deps.clock, received.signal, renew);
  try {
    const { object } = await receiveBytes(deps, source, {
      accountId,
      object: id,
      purpose: 'private',
      bytesMax: reservation.bytes,
      lifetimeMs: UNCOMMITTED_MS,
    });
    return object.blob.bytes;
  } finally {
    received.abort();
    await keeping;
    // if this fails, the commit still has the seconds of the last renewal
    await renew(deps.clock.now() + RESERVED_MS).catch(() => undefined);
  }
}

/** Turns a reservation with its bytes into a file. A repeated call returns the same file. */
export async function commitFile(
  { store, clock, files }: FileDeps,
  {
    accountId,
    id,
    tokenId,
    filename,
    lifetimeMs = files.lifetimeMs,
  }: {
    readonly accountId: string;
    readonly id: string;
    readonly tokenId: string;
    readonly filename: string;
    readonly lifetimeMs: number | undefined;
  },
): Promise<StoredFile> {
  const description = {
    tokenId,
    filename: cleanFilename(filename),
    lifetimeMs: Math.min(lifetimeMs, files.lifetimeMs),
  };
  const file = await store.commitFile(accountId, id, description, clock.now());
  if (file === undefined) throw tooLate();
  return file;
}

/** A name as it is stored: without characters that a page or a terminal would obey, and never empty. */
function cleanFilename(name: string): string {
  const clean = name.toWellFormed().replace(CONTROL_CHARACTERS, '').trim();
  return clean === '' ? 'file' : clean;
}

export async function getFile({ store, clock }: FileDeps, accountId: string, id: string): Promise<StoredFile> {
  const file = await store.findFile(accountId, id, clock.now());
  if (file === undefined) throw unknownFile();
  return file;
}

export async function listFiles({ store, clock }: FileDeps, page: ListFilesRequest): Promise<ListFilesResponse> {
  const found = await store.listFiles({ ...page, limit: page.limit + 1 }, clock.now());
  return toMessage(ListFilesResponseSchema, { files: found.slice(0, page.limit), hasMore: found.length > page.limit });
}

/** Removes a file or a reservation with its bytes. Returns false if there was no file. */
export async function removeFile(deps: FileDeps & CollectDeps, accountId: string, id: string): Promise<boolean> {
  const { removed, key } = await deps.store.removeFile(accountId, id, deps.clock.now());
  if (key !== undefined) await removeBytes(deps, [key]);
  return removed;
}

async function requireFileReservation(
  { store, clock }: FileDeps,
  accountId: string,
  id: string,
): Promise<FileReservation> {
  const found = await store.findReservation(accountId, id, clock.now());
  if (found === undefined) throw tooLate();
  return found;
}

/** The reservation or its bytes have ended. */
function tooLate(): Problem {
  return mediaBusy('could not be kept in time; send the file again');
}

function accountFull({ accountFilesMax, accountBytesMax }: FileSettings): Problem {
  return refuse('file_limit', {
    message:
      `the files of an account must be at most ${accountFilesMax} and have at most ` +
      `${formatBytes(accountBytesMax)} together; delete some first`,
  });
}

function unknownFile(): Problem {
  return refuse('file_not_found');
}
