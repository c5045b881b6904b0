import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import { requireField } from '@reelgate/platform/rpc/rules';
import { bind } from '@reelgate/platform/rpc/service';
import type { Binding } from '@reelgate/platform/rpc/service';
import { FilePurpose as WirePurpose, FileService } from '@reelgate/proto/media/v1/file_service';
import { commitFile, getFile, listFiles, removeFile, reserveFile } from '../operations/files/keep-files.ts';
import type { FileDeps } from '../operations/files/keep-files.ts';
import type { CollectDeps } from '../operations/garbage/collect-garbage.ts';

const PURPOSES = deriveWords(WirePurpose);

/** The files of clients, without their bytes. */
export function fileServiceBinding(deps: FileDeps & CollectDeps): Binding {
  return bind(FileService, {
    reserveFile: async ({ accountId, purpose, bytes, key }) => {
      const reserved = await reserveFile(deps, {
        accountId,
        purpose: requireField(PURPOSES[purpose], 'purpose'),
        bytes: Number(bytes) || undefined,
        key: key || undefined,
      });
      return reserved.kind === 'exists'
        ? { fileId: reserved.file.id, bytesMax: 0n, file: reserved.file }
        : { fileId: reserved.id, bytesMax: BigInt(reserved.bytesMax), file: undefined };
    },
    commitFile: async ({ accountId, fileId: id, tokenId, filename, lifetimeMs }) => ({
      file: await commitFile(deps, { accountId, id, tokenId, filename, lifetimeMs: Number(lifetimeMs) || undefined }),
    }),
    getFile: async ({ accountId, fileId }) => ({ file: await getFile(deps, accountId, fileId) }),
    listFiles: (request) => listFiles(deps, request),
    removeFile: async ({ accountId, fileId }) => ({ removed: await removeFile(deps, accountId, fileId) }),
  });
}
