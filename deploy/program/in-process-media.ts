import type { MediaPort } from '@reelgate/gateway/app';
import type { MediaBytes as OwnedBytes } from '@reelgate/media/app';
import { collect } from '@reelgate/tasks/app';
import type { MediaBytes } from '@reelgate/tasks/app';

/** The media service of the same process, as the gateway calls it. */
export function inProcessMedia(bytes: OwnedBytes): MediaPort {
  return {
    put: (source, options) => bytes.put(source, options),
    putPrivate: (source, { accountId, keepMs, object }) => bytes.put(source, { accountId, privateMs: keepMs, object }),
    putFile: (source, file) => bytes.putFile(source, file),
    remove: (objects) => bytes.remove(objects),
    read: async (object) => (await bytes.read(object))?.stream,
    readThumbnail: async (object) => (await bytes.readThumbnail(object))?.stream,
    serve: (request, response, wanted) => bytes.serve(request, response, wanted),
    serveLink: async (request, response) => {
      await bytes.serveLink(request, response);
    },
  };
}

/** The media service of the same process, as the tasks service uses it. */
export function inProcessMediaBytes(bytes: OwnedBytes): MediaBytes {
  return {
    read: async (object) => {
      const found = await bytes.read(object);
      if (found === undefined) throw new Error('the staged media is missing');
      return collect(found.stream);
    },
    open: async (object, { offset, length }) => {
      // a store has no empty range, so the first byte stands in
      const range = length === 0 ? { start: 0, end: 0 } : { start: offset, end: offset + length - 1 };
      const found = await bytes.read(object, range);
      return found && { stream: found.stream, sha256: found.sha256 };
    },
    beginUpload: ({ accountId, kind, declaredType, bytes: count }) =>
      bytes.beginUpload({ accountId, family: kind, declaredType, bytes: count }),
    put: (stream, { accountId, upload }) => bytes.put(stream, { accountId, upload }),
    endUpload: (upload) => bytes.endUpload(upload),
    remove: (object) => bytes.remove([object]),
  };
}
