import type { SecureContextOptions } from 'node:tls';
import type { Secret } from '@reelgate/platform/secret';
import { Agent, buildConnector, request } from 'undici';

const CONNECT_TIMEOUT_MS = 10_000;
const READ_TIMEOUT_MS = 60_000;
const STAGED_BYTES_MAX = 128 * 1024 * 1024;

/** Reads the bytes of a staged media item, for a channel that takes them inside the request. */
export interface MediaBytes {
  read(object: string, signal: AbortSignal): Promise<Buffer>;
}

/** Reads over the HTTP port of the media service. */
export function httpMediaBytes(
  baseUrl: string,
  key: Secret,
  /** The newest certificates, for an `https:` address. */
  secureContext: () => SecureContextOptions = () => ({}),
): MediaBytes {
  const dispatcher = new Agent({
    connect: (options, opened) => {
      buildConnector({ ...secureContext(), timeout: CONNECT_TIMEOUT_MS })(options, opened);
    },
  });
  return {
    read: async (object, signal) => {
      const answer = await request(`${baseUrl}/bytes/${encodeURIComponent(object)}`, {
        headers: { authorization: `Bearer ${key.reveal()}` },
        dispatcher,
        headersTimeout: READ_TIMEOUT_MS,
        bodyTimeout: READ_TIMEOUT_MS,
        signal,
      });
      if (answer.statusCode !== 200) {
        await answer.body.dump();
        throw new Error(`the media service answered ${String(answer.statusCode)} for a staged object`);
      }
      return collect(answer.body);
    },
  };
}

/** Reads a whole stream, up to the size limit of staged media. */
export async function collect(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of stream) {
    bytes += part.length;
    if (bytes > STAGED_BYTES_MAX) throw new Error(`a staged object has more than ${String(STAGED_BYTES_MAX)} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
