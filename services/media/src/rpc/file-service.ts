import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues, deriveWords } from '@reelgate/platform/rpc/enum-words';
import { requireField } from '@reelgate/platform/rpc/rules';
import { bind } from '@reelgate/platform/rpc/service';
import type { Binding, WholeMessage } from '@reelgate/platform/rpc/service';
import { FilePurpose as WirePurpose, FileService } from '@reelgate/proto/media/v1/file_service';
import type { StoredFileSchema } from '@reelgate/proto/media/v1/file_service';
import type { ClientFile } from '../domain/client-file.ts';
import { commitFile, getFile, listFiles, removeFile, reserveFile } from '../operations/files/keep-files.ts';
import type { FileDeps } from '../operations/files/keep-files.ts';
import type { CollectDeps } from '../operations/garbage/collect-garbage.ts';

const PURPOSES = deriveValues(WirePurpose);
const PURPOSE_WORDS = deriveWords(WirePurpose);

/** The files of clients, without their bytes. */
export function fileServiceBinding(deps: FileDeps & CollectDeps): Binding {
  return bind(FileService, {
    reserveFile: async ({ accountId, purpose, bytes, key }) => {
      const reserved = await reserveFile(deps, {
        accountId,
        purpose: requireField(PURPOSE_WORDS[purpose], 'purpose'),
        bytes: Number(bytes) || undefined,
        key: key || undefined,
      });
      return reserved.kind === 'exists'
        ? { fileId: reserved.file.id, bytesMax: 0n, file: toWireFile(reserved.file) }
        : { fileId: reserved.id, bytesMax: BigInt(reserved.bytesMax), file: undefined };
    },
    commitFile: async ({ accountId, fileId, tokenId, filename, lifetimeMs }) => ({
      file: toWireFile(
        await commitFile(deps, {
          accountId,
          id: fileId,
          tokenId,
          filename,
          lifetimeMs: Number(lifetimeMs) || undefined,
        }),
      ),
    }),
    getFile: async ({ accountId, fileId }) => ({ file: toWireFile(await getFile(deps, accountId, fileId)) }),
    listFiles: async ({ accountId, purpose, limit, after, ascending }) => {
      const { files, hasMore } = await listFiles(deps, {
        accountId,
        purpose: PURPOSE_WORDS[purpose],
        limit,
        after: after || undefined,
        isAscending: ascending,
      });
      return { files: files.map(toWireFile), hasMore };
    },
    removeFile: async ({ accountId, fileId }) => ({ removed: await removeFile(deps, accountId, fileId) }),
  });
}

function toWireFile(file: ClientFile): WholeMessage<typeof StoredFileSchema> {
  const { id, accountId, tokenId, filename, purpose, bytes, createdAt, expiresAt } = file;
  return {
    id,
    accountId,
    tokenId,
    filename,
    purpose: PURPOSES[purpose],
    bytes: BigInt(bytes),
    createdAt: timestampFromMs(createdAt),
    expiresAt: timestampFromMs(expiresAt),
  };
}
