import { Problem } from '@reelgate/platform/problem';
import type { UploadMediaHeader, UploadMediaRequest } from '@reelgate/proto/tasks/v1/task_service';
import type { Upload } from '../operations/uploads/upload-media.ts';
import { MEDIA, fromWireEnum } from './mapping-order.ts';

/** Reads the header of an upload, and leaves its pieces to be read. */
export async function readUpload(iterator: AsyncIterator<UploadMediaRequest>): Promise<Upload> {
  const first = await iterator.next();
  if (first.done === true || first.value.header === undefined)
    throw badHeader('header', 'is required in the first message');
  const { accountId, kind: wireKind, declaredType, bytes, sha256 } = first.value.header;
  const kind = fromWireEnum(MEDIA, wireKind);
  if (kind === undefined) throw badHeader('header.kind', 'is required');
  return {
    accountId,
    kind,
    declaredType,
    sha256,
    bytes: readByteCount(bytes),
    pieces: readPieces(first.value.data, iterator),
  };
}

function readByteCount(bytes: UploadMediaHeader['bytes']): number | undefined {
  return bytes === undefined ? undefined : Number(bytes);
}

async function* readPieces(first: Uint8Array, iterator: AsyncIterator<UploadMediaRequest>): AsyncGenerator<Uint8Array> {
  yield first;
  for (;;) {
    const next = await iterator.next();
    if (next.done === true) return;
    if (next.value.header !== undefined) throw badHeader('header', 'must be in the first message only');
    yield next.value.data;
  }
}

function badHeader(field: string, message: string): Problem {
  return new Problem({ kind: 'invalid', reason: 'invalid_request', field, message });
}
