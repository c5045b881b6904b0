import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Problem } from '@reelgate/platform/problem';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import type { Client } from '@reelgate/platform/rpc/service';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { FilePurpose, FileService, StoredFileSchema } from '@reelgate/proto/media/v1/file_service';
import type { StoredFile } from '@reelgate/proto/media/v1/file_service';
import type { FakeMedia } from './fake-services.ts';

const MADE_AT_MS = Date.UTC(2026, 0, 1);
const LIFETIME_MS = 30 * 24 * 3_600_000;

/** The files of the media service, in memory and without time. */
export interface FakeFiles {
  readonly client: Client<typeof FileService>;
  readonly files: Map<string, StoredFile>;
  /** The most bytes of a file; a test can change it. */
  bytesMax: number;
  /** Refuses the next reservation. */
  refuse(problem: Error): void;
  /** The ids that were removed, reservations included. */
  readonly removed: string[];
}

export function fakeFiles({ kept }: Pick<FakeMedia, 'kept'>): FakeFiles {
  const files: FakeFiles['files'] = new Map();
  const keys = new Map<string, string>();
  const purposes = new Map<string, FilePurpose>();
  const removed: string[] = [];
  let refusal: Error | undefined;
  const owned = (accountId: string, id: string): StoredFile => {
    const file = files.get(id);
    if (file?.accountId === accountId) return file;
    throw new Problem({ kind: 'not_found', reason: 'file_not_found', message: 'no such file' });
  };
  const fake: FakeFiles = {
    files,
    removed,
    bytesMax: 1024 * 1024,
    refuse: (problem) => {
      refusal = problem;
    },
    client: directClient(
      FileService,
      partialService(FileService, {
        reserveFile: async ({ accountId, purpose, key }) => {
          const refused = refusal;
          refusal = undefined;
          if (refused !== undefined) throw refused;
          const known = key === '' ? undefined : keys.get(`${accountId} ${key}`);
          if (known !== undefined && files.has(known)) return { fileId: known, file: files.get(known) };
          const fileId = known ?? `file_${purposes.size + 1}`;
          if (key !== '') keys.set(`${accountId} ${key}`, fileId);
          purposes.set(fileId, purpose);
          return { fileId, bytesMax: BigInt(fake.bytesMax) };
        },
        commitFile: async ({ accountId, fileId, tokenId, filename, lifetimeMs }) => {
          const file = create(StoredFileSchema, {
            id: fileId,
            accountId,
            tokenId,
            filename,
            purpose: purposes.get(fileId) ?? FilePurpose.UNSPECIFIED,
            bytes: BigInt(kept.get(fileId)?.bytes.length ?? 0),
            createdAt: timestampFromMs(MADE_AT_MS),
            expiresAt: timestampFromMs(MADE_AT_MS + (Number(lifetimeMs) || LIFETIME_MS)),
          });
          files.set(fileId, file);
          return { file };
        },
        getFile: async ({ accountId, fileId }) => ({ file: owned(accountId, fileId) }),
        listFiles: async ({ accountId, purpose, limit, after, ascending }) => {
          const all = [...files.values()]
            .filter((file) => file.accountId === accountId)
            .filter((file) => purpose === FilePurpose.UNSPECIFIED || file.purpose === purpose);
          const ordered = ascending ? all : all.reverse();
          const from = after === '' ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
          return { files: ordered.slice(from, from + limit), hasMore: ordered.length > from + limit };
        },
        removeFile: async ({ accountId, fileId }) => {
          removed.push(fileId);
          kept.delete(fileId);
          if (files.get(fileId)?.accountId !== accountId) return { removed: false };
          return { removed: files.delete(fileId) };
        },
      }),
      aCaller(),
    ),
  };
  return fake;
}
