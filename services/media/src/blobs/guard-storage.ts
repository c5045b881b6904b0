import type { BlobStore } from './blob-store.ts';
import type { Draft, IncomingFolder } from './incoming.ts';
import { passCallerBytes, runCallerWork } from './storage-faults.ts';
import type { StorageFaults } from './storage-faults.ts';

/** A blob store whose faults become refusals that the caller can retry. Errors of work on a file stay unchanged. */
export function guardBlobs(blobs: BlobStore, { guard }: StorageFaults): BlobStore {
  return {
    keep: (key, file) => guard(() => blobs.keep(key, file)),
    has: (key, bytes) => guard(() => blobs.has(key, bytes)),
    findSize: (key) => guard(() => blobs.findSize(key)),
    open: (key, range) => guard(() => blobs.open(key, range)),
    pieces: (key, range) => guard(() => blobs.pieces(key, range)),
    withFile: (key, work) => guard(() => blobs.withFile(key, (path) => runCallerWork(() => work(path)))),
    linkTo: (key, options) => guard(() => blobs.linkTo(key, options)),
    list: (after, limit) => guard(() => blobs.list(after, limit)),
    remove: (key) => guard(() => blobs.remove(key)),
    check: () => blobs.check(),
  };
}

/** Converts faults of our disk into refusals that the caller can retry. Errors of a file's source stay unchanged. */
export function guardIncoming(incoming: IncomingFolder, faults: StorageFaults): IncomingFolder {
  const { guard } = faults;
  return {
    begin: async (bytesMax) => guardDraft(await guard(() => incoming.begin(bytesMax)), faults),
    fill: (write) => guard(() => incoming.fill((path) => runCallerWork(() => write(path)))),
  };
}

function guardDraft(draft: Draft, { guard }: StorageFaults): Draft {
  return {
    get bytes() {
      return draft.bytes;
    },
    append: (source) => guard(() => draft.append(passCallerBytes(source))),
    finish: () => guard(() => draft.finish()),
    discard: () => guard(() => draft.discard()),
  };
}
