import type { MediaPort } from '@reelgate/gateway/app';
import type { MediaBytes as OwnedBytes } from '@reelgate/media/app';
import { collect } from '@reelgate/tasks/app';
import type { MediaBytes } from '@reelgate/tasks/app';

/** The media service of the same process, as the gateway calls it. */
export function inProcessMedia(bytes: OwnedBytes): MediaPort {
  return {
    put: (source, options) => bytes.put(source, options),
    putPrivate: (source, { accountId, keepMs, object }) => bytes.put(source, { accountId, privateMs: keepMs, object }),
    remove: (objects) => bytes.remove(objects),
    read: async (object) => (await bytes.read(object))?.stream,
    serve: (request, response, wanted) => bytes.serve(request, response, wanted),
    serveLink: async (request, response) => {
      await bytes.serveLink(request, response);
    },
  };
}

/** The media service of the same process, as the tasks service reads staged media from it. */
export function inProcessMediaBytes(bytes: OwnedBytes): MediaBytes {
  return {
    read: async (object) => {
      const found = await bytes.read(object);
      if (found === undefined) throw new Error('the staged media is missing');
      return collect(found.stream);
    },
  };
}
