import { Readable } from 'node:stream';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { isProblem } from '@reelgate/platform/problem';
import type { Client } from '@reelgate/platform/rpc/service';
import { FilePurpose } from '@reelgate/proto/media/v1/file_service';
import type {
  FileService,
  ListFilesRequestSchema,
  ListFilesResponse,
  StoredFile,
} from '@reelgate/proto/media/v1/file_service';
import { withDeadline } from './caller.ts';
import type { Caller } from './caller.ts';
import type { MediaPort } from './media-port.ts';
import { requireValue } from './wire-values.ts';

/** A file. Its bytes follow. */
export interface FileUpload {
  readonly fileId: string;
  /** The maximum number of bytes. */
  readonly bytesMax: number;
  /** Returns the number of bytes. Refuses more of them with `body_too_large`. */
  receive(body: Readable): Promise<number>;
  commit(description: UploadDescription): Promise<StoredFile>;
  /** Gives up the upload. Without it, the upload ends by itself after a minute. */
  abandon(): Promise<void>;
}

export interface UploadDescription {
  readonly tokenId: string;
  readonly filename: string;
  /** Undefined for the common lifetime of files. */
  readonly lifetimeMs: number | undefined;
}

export interface NewFile {
  readonly accountId: string;
  /** The same key always returns the same file. At most 200 characters. */
  readonly key: string;
  readonly filename: string;
  readonly purpose: FilePurpose;
  /** The lifetime of the file, at most the common lifetime of files, which is also the default. */
  readonly lifetimeMs: number | undefined;
}

/** Files of clients: inputs that they upload, and outputs that batches write. Any media process has every file. */
export interface ClientFiles {
  /** Returns undefined if the account has no such file, or it has expired. */
  find(accountId: string, fileId: string, caller?: Caller): Promise<StoredFile | undefined>;
  list(query: MessageInitShape<typeof ListFilesRequestSchema>, caller: Caller): Promise<ListFilesResponse>;
  /**
   * Returns the bytes in order, or undefined if there is no such file. The stream must be read to its end or destroyed,
   * which the end of a `for await` and the signal do.
   */
  read(accountId: string, fileId: string, signal: AbortSignal): Promise<Readable | undefined>;
  /** Begins an upload of a client. Refuses with `file_limit` an account that has as many files as it may have. */
  upload(accountId: string, bytes: number | undefined, caller?: Caller): Promise<FileUpload>;
  /**
   * Stores a file under a key of its own. A repeated write after a crash leaves one file. Once the key has a file, it
   * is returned and the body is not read. An output is never refused for the number or size of other files.
   */
  write(file: NewFile, body: AsyncIterable<Uint8Array>, caller?: Caller): Promise<StoredFile>;
  /** Returns false if the account has no such file. */
  remove(accountId: string, fileId: string, caller?: Caller): Promise<boolean>;
}

export type FilesRpc = Client<typeof FileService>;

const NO_CALLER: Caller = {};

export function clientFiles(rpc: FilesRpc, media: MediaPort): ClientFiles {
  const find: ClientFiles['find'] = async (accountId, fileId, caller = NO_CALLER) => {
    try {
      return requireValue((await rpc.getFile({ accountId, fileId }, withDeadline(caller))).file);
    } catch (error) {
      if (isProblem(error, 'file_not_found')) return undefined;
      throw error;
    }
  };
  return {
    find,
    list: (query, caller) => rpc.listFiles(query, withDeadline(caller)),
    read: async (accountId, fileId, signal) => {
      if ((await find(accountId, fileId)) === undefined) return undefined;
      const stream = await media.read(fileId);
      return stream && endWith(stream, signal);
    },
    upload: async (accountId, bytes = 0, caller = NO_CALLER) => {
      const reserved = await rpc.reserveFile(
        { accountId, purpose: FilePurpose.BATCH, bytes: BigInt(bytes) },
        withDeadline(caller),
      );
      return newUpload({ rpc, media, caller, accountId }, reserved.fileId, Number(reserved.bytesMax));
    },
    write: async ({ accountId, purpose, key, filename, lifetimeMs }, body, caller = NO_CALLER) => {
      const { fileId, bytesMax, file } = await rpc.reserveFile({ accountId, purpose, key }, withDeadline(caller));
      if (file !== undefined) return file;
      const upload = newUpload({ rpc, media, caller, accountId }, fileId, Number(bytesMax));
      await upload.receive(Readable.from(body, { objectMode: false }));
      return upload.commit({ tokenId: '', filename, lifetimeMs });
    },
    remove: async (accountId, fileId, caller = NO_CALLER) =>
      (await rpc.removeFile({ accountId, fileId }, withDeadline(caller))).removed,
  };
}

interface UploadParts {
  readonly rpc: FilesRpc;
  readonly media: MediaPort;
  readonly caller: Caller;
  readonly accountId: string;
}

function newUpload({ rpc, media, caller, accountId }: UploadParts, fileId: string, bytesMax: number): FileUpload {
  return {
    fileId,
    bytesMax,
    receive: (body) => media.putFile(body, { accountId, id: fileId }),
    commit: async ({ lifetimeMs = 0, ...description }) => {
      const request = { accountId, fileId, ...description, lifetimeMs: BigInt(lifetimeMs) };
      return requireValue((await rpc.commitFile(request, withDeadline(caller))).file);
    },
    abandon: async () => {
      await rpc.removeFile({ accountId, fileId }, withDeadline(caller));
    },
  };
}

function endWith(stream: Readable, signal: AbortSignal): Readable {
  const end = (): void => {
    stream.destroy(signal.reason instanceof Error ? signal.reason : undefined);
  };
  // the reader gets the error, which is useless without a reader
  stream.on('error', () => undefined);
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  stream.once('close', () => signal.removeEventListener('abort', end));
  return stream;
}
