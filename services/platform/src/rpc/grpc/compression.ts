import { gzipSync } from 'node:zlib';
import { Metadata } from '@grpc/grpc-js';
import type { ServerInterceptingCall, ServerInterceptor } from '@grpc/grpc-js';

/** As in Connect: less than this is not worth it. */
const GZIP_BYTES_MIN = 1024;
/** Compressing a larger message would delay other calls, so it is sent as it is. */
const GZIP_BYTES_MAX = 1024 * 1024;
/** Before each message: whether it is compressed, and its length in four bytes. */
const PREFIX_BYTES = 5;
const FASTEST = { level: 1 };

/** The part of a call of grpc-js that frames messages. grpc-js reads gzip, and has no setting to answer with it. */
interface FramingCall {
  readonly incomingEncoding: string;
  serializeMessage(message: unknown): Buffer;
  sendMetadata(metadata: Metadata): void;
}

/** Compresses the answers of a call if its request is compressed with gzip, as servers in Go do. */
export const compressAnswers: ServerInterceptor = (_method, call) => {
  const framing = call as unknown as FramingCall;
  const compressing = call as unknown as ServerInterceptingCall;
  if (framing.incomingEncoding !== 'gzip') return compressing;
  const [serialize, send] = [framing.serializeMessage.bind(framing), framing.sendMetadata.bind(framing)];
  Object.assign(framing, {
    serializeMessage: (message: unknown) => compressFrame(serialize(message)),
    sendMetadata: (metadata: Metadata | undefined) => {
      const headers = metadata ?? new Metadata();
      headers.set('grpc-encoding', 'gzip');
      send(headers);
    },
  });
  return compressing;
};

/** A framed message with its content compressed. */
function compressFrame(framed: Buffer): Buffer {
  const bytes = framed.byteLength - PREFIX_BYTES;
  if (bytes < GZIP_BYTES_MIN || bytes > GZIP_BYTES_MAX) return framed;
  const content = gzipSync(framed.subarray(PREFIX_BYTES), FASTEST);
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt8(1, 0);
  prefix.writeUInt32BE(content.byteLength, 1);
  return Buffer.concat([prefix, content]);
}
