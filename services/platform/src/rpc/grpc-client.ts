import { once } from 'node:events';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { Client as GrpcClient, Metadata } from '@grpc/grpc-js';
import type { ClientWritableStream, ServiceError } from '@grpc/grpc-js';
import type { Problem } from '../problem.ts';
import type { Secret } from '../secret.ts';
import { serviceUnavailable } from '../service-unavailable.ts';
import { errorOfStatus } from './grpc-status.ts';
import { deadlineWithin } from '../passed-deadline.ts';
import { fromConnectError } from './problems.ts';
import { channelCredentials } from '../tls/grpc-credentials.ts';
import type { CurrentTls } from '../tls/tls-files.ts';
import { DEADLINE_MS, MESSAGE_BYTES_MAX } from './service.ts';
import type { CallOptions, Client } from './service.ts';

const KEEPALIVE_MS = 30_000;
const SERVICE_CONFIG = JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] });

/** A connection to the replicas of one program. Several services can be called over it. */
export interface GrpcConnection {
  client<S extends DescService>(service: S): Client<S>;
  /** Resolves when a replica accepts the TCP connection. Rejects after `withinMs`. */
  ready(timeoutMs: number): Promise<void>;
  close(): void;
}

/**
 * `address` is host:port or any gRPC target. Calls rotate over the addresses of a name. Without `tls` they are
 * plaintext; with it, the certificate of the service must be for the host of the address.
 */
export function connectGrpc(address: string, key: Secret, tls?: CurrentTls): GrpcConnection {
  const grpc = new GrpcClient(address.includes('://') ? address : `dns:///${address}`, channelCredentials(tls), {
    'grpc.service_config': SERVICE_CONFIG,
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
    'grpc.max_send_message_length': MESSAGE_BYTES_MAX,
    'grpc.enable_retries': 0,
  });
  return {
    client: (service) =>
      Object.fromEntries(
        service.methods.map((method) => [method.localName, CALLS[method.methodKind](callingOf(grpc, key, method))]),
      ) as never,
    ready: (timeoutMs) =>
      new Promise((resolve, reject) => {
        grpc.waitForReady(Date.now() + timeoutMs, (error) => {
          if (error === undefined) resolve();
          else reject(error);
        });
      }),
    close: () => {
      grpc.close();
    },
  };
}

interface Calling {
  readonly grpc: GrpcClient;
  readonly key: Secret;
  readonly method: DescMethod;
  readonly path: string;
  readonly serialize: (message: unknown) => Buffer;
  readonly deserialize: (bytes: Buffer) => unknown;
}

function callingOf(grpc: GrpcClient, key: Secret, method: DescMethod): Calling {
  return {
    grpc,
    key,
    method,
    path: `/${method.parent.typeName}/${method.name}`,
    serialize: (message) => Buffer.from(toBinary(method.input, message as never)),
    deserialize: (bytes) => fromBinary(method.output, bytes),
  };
}

type Init = Record<string, unknown>;

const CALLS: Readonly<Record<DescMethod['methodKind'], (calling: Calling) => unknown>> = {
  unary:
    (calling) =>
    (request: Init, options: CallOptions = {}) =>
      answerOf(options.signal, (done) => {
        const { grpc, method, path, serialize, deserialize } = calling;
        const [metadata, bounds] = [metadataOf(calling, options), boundsOf(options, DEADLINE_MS)];
        const message = create(method.input, request);
        return grpc.makeUnaryRequest(path, serialize, deserialize, message, metadata, bounds, done);
      }),
  server_streaming: (calling) =>
    async function* (request: Init, options: CallOptions = {}) {
      const { grpc, method, path, serialize, deserialize } = calling;
      const [metadata, bounds] = [metadataOf(calling, options), boundsOf(options)];
      const message = create(method.input, request);
      const call = grpc.makeServerStreamRequest(path, serialize, deserialize, message, metadata, bounds);
      const ended = cancelOn(options.signal, call);
      try {
        yield* call;
      } catch (error) {
        throw problemOfStatus(error as ServiceError);
      } finally {
        ended();
        call.cancel();
      }
    },
  client_streaming:
    (calling) =>
    (requests: AsyncIterable<Init>, options: CallOptions = {}) =>
      answerOf(options.signal, (done, fail) => {
        const { grpc, method, path, serialize, deserialize } = calling;
        const [metadata, bounds] = [metadataOf(calling, options), boundsOf(options)];
        const call = grpc.makeClientStreamRequest(path, serialize, deserialize, metadata, bounds, done);
        sendAll(call, method, requests).catch((error: unknown) => {
          fail(error);
          call.cancel();
        });
        return call;
      }),
  bidi_streaming: () => {
    throw new Error('a stream in both directions is not supported');
  },
};

type Done = (error: ServiceError | null, answer?: unknown) => void;

/** Resolves with the one answer of a call, or rejects with a Problem. `fail` rejects before the call has ended. */
function answerOf(
  signal: AbortSignal | undefined,
  begin: (done: Done, fail: (error: unknown) => void) => Cancellable,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let ended = (): void => undefined;
    const call = begin((error, answer) => {
      ended();
      if (error === null) resolve(answer);
      else reject(problemOfStatus(error));
    }, reject);
    ended = cancelOn(signal, call);
  });
}

interface Cancellable {
  cancel(): void;
}

/** Cancels the call when the signal is aborted. Returns what ends that. */
function cancelOn(signal: AbortSignal | undefined, call: Cancellable): () => void {
  const cancel = (): void => {
    call.cancel();
  };
  if (signal?.aborted === true) cancel();
  else signal?.addEventListener('abort', cancel, { once: true });
  return () => {
    signal?.removeEventListener('abort', cancel);
  };
}

async function sendAll(
  call: ClientWritableStream<unknown>,
  method: DescMethod,
  requests: AsyncIterable<Init>,
): Promise<void> {
  for await (const request of requests) {
    if (call.destroyed || call.writableEnded) return;
    if (!call.write(create(method.input, request)))
      await Promise.race([once(call, 'drain'), once(call, 'status'), once(call, 'close')]);
  }
  call.end();
}

function metadataOf({ key }: Calling, { requestId }: CallOptions): Metadata {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${key.reveal()}`);
  if (requestId !== undefined) metadata.set('x-request-id', requestId);
  return metadata;
}

function boundsOf({ signal, timeoutMs }: CallOptions, defaultMs?: number): { readonly deadline?: number } {
  const deadline = deadlineWithin(signal, timeoutMs ?? defaultMs);
  return deadline === undefined ? {} : { deadline };
}

function problemOfStatus(error: ServiceError): Problem {
  const [details] = error.metadata.get('grpc-status-details-bin');
  const status = errorOfStatus(error.code, error.details, Buffer.isBuffer(details) ? details : undefined);
  return status === undefined ? serviceUnavailable(error) : fromConnectError(status);
}
