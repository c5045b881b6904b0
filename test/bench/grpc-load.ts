import { Client, Metadata, credentials } from '@grpc/grpc-js';
import type { ClientReadableStream, ServiceError } from '@grpc/grpc-js';

/** Connections over which the calls are spread, as those of several callers would be. */
const CONNECTIONS = 4;
const asItIs = (bytes: Buffer): Buffer => bytes;

export interface GrpcLoad {
  /** Keeps this many calls under way, and gives the calls per second. */
  unary(call: RawCall, inFlight: number, ms: number): Promise<number>;
  once(call: RawCall): Promise<Buffer>;
  /** Opens a stream; the caller listens. */
  stream(call: RawCall): ClientReadableStream<Buffer>;
  close(): void;
}

interface RawCall {
  readonly path: string;
  readonly request: Buffer;
}

/** Calls with bytes that are not parsed, so that the caller costs little beside the server. */
export function grpcLoad(address: string, key: string): GrpcLoad {
  const clients = Array.from(
    { length: CONNECTIONS },
    () => new Client(address, credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 }),
  );
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${key}`);
  let turn = 0;
  const next = (): Client => clients[(turn += 1) % CONNECTIONS]!;
  const once = ({ path, request }: RawCall): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      next().makeUnaryRequest(path, asItIs, asItIs, request, metadata, (error: ServiceError | null, answer) => {
        if (error !== null || answer === undefined) reject(error ?? new Error('an empty answer'));
        else resolve(answer);
      });
    });
  return {
    once,
    unary: async (call, inFlight, ms) => {
      let calls = 0;
      const start = performance.now();
      const loop = async (): Promise<void> => {
        while (performance.now() - start < ms) {
          await once(call);
          calls += 1;
        }
      };
      await Promise.all(Array.from({ length: inFlight }, loop));
      return (calls * 1000) / (performance.now() - start);
    },
    stream: ({ path, request }) => next().makeServerStreamRequest(path, asItIs, asItIs, request, metadata),
    close: () => {
      for (const client of clients) client.close();
    },
  };
}
