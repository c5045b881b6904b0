import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { Client as GrpcClient, Metadata, credentials } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import type { Problem } from '../problem.ts';
import type { Secret } from '../secret.ts';
import { serviceUnavailable } from '../service-unavailable.ts';
import { errorOfStatus } from './grpc-status.ts';
import { fromConnectError } from './problems.ts';
import { DEADLINE_MS } from './service.ts';
import type { CallOptions, Client } from './service.ts';

const MESSAGE_BYTES_MAX = 8 * 1024 * 1024;
const KEEPALIVE_MS = 30_000;
const SERVICE_CONFIG = JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] });

/** A connection to the replicas of one program. Several services can be called over it. */
export interface GrpcConnection {
  client<S extends DescService>(service: S): Client<S>;
  /** Resolves when a replica accepts the TCP connection. Rejects after `withinMs`. */
  ready(timeoutMs: number): Promise<void>;
  close(): void;
}

/** `address` is host:port or any gRPC target. Calls rotate over the addresses of a name. */
export function connectGrpc(address: string, key: Secret): GrpcConnection {
  const grpc = new GrpcClient(address.includes('://') ? address : `dns:///${address}`, credentials.createInsecure(), {
    'grpc.service_config': SERVICE_CONFIG,
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
    'grpc.enable_retries': 0,
  });
  return {
    client: (service) =>
      Object.fromEntries(
        service.methods.map((method) => [method.localName, unary(grpc, service, method, key)]),
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

function unary(grpc: GrpcClient, service: DescService, method: DescMethod, key: Secret) {
  const path = `/${service.typeName}/${method.name}`;
  const serialize = (message: unknown): Buffer => Buffer.from(toBinary(method.input, message as never));
  const deserialize = (bytes: Buffer): unknown => fromBinary(method.output, bytes);
  return (
    request: Record<string, unknown>,
    { signal, timeoutMs = DEADLINE_MS, requestId }: CallOptions = {},
  ): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const metadata = new Metadata();
      metadata.set('authorization', `Bearer ${key.reveal()}`);
      if (requestId !== undefined) metadata.set('x-request-id', requestId);
      const message = create(method.input, request);
      const call = grpc.makeUnaryRequest(
        path,
        serialize,
        deserialize,
        message,
        metadata,
        { deadline: Date.now() + timeoutMs },
        (error, answer) => {
          signal?.removeEventListener('abort', cancel);
          if (error === null) resolve(answer);
          else reject(problemOfStatus(error));
        },
      );
      const cancel = (): void => {
        call.cancel();
      };
      if (signal?.aborted === true) cancel();
      else signal?.addEventListener('abort', cancel, { once: true });
    });
}

function problemOfStatus(error: ServiceError): Problem {
  const [details] = error.metadata.get('grpc-status-details-bin');
  const status = errorOfStatus(error.code, error.details, Buffer.isBuffer(details) ? details : undefined);
  return status === undefined ? serviceUnavailable(error) : fromConnectError(status);
}
