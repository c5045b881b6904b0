import type { DescService } from '@bufbuild/protobuf';
import { ConnectError, createClient } from '@connectrpc/connect';
import type { Interceptor } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import type { Secret } from '../../secret.ts';
import { fromConnectError } from '../problems.ts';
import type { Client } from '../service.ts';
import { MESSAGE_BYTES_MAX } from '../service.ts';

/** Calls a service over Connect, on a port that speaks no gRPC. A refusal is a Problem, as with the other clients. */
export function connectHttp<S extends DescService>(service: S, baseUrl: string, key: Secret): Client<S> {
  const identified: Interceptor = (next) => (request) => {
    request.header.set('authorization', `Bearer ${key.reveal()}`);
    return next(request);
  };
  const transport = createConnectTransport({
    baseUrl,
    httpVersion: '1.1',
    useBinaryFormat: true,
    interceptors: [identified],
    readMaxBytes: MESSAGE_BYTES_MAX,
  });
  const client = createClient(service, transport) as unknown as Readonly<Record<string, AnyCall>>;
  return Object.fromEntries(
    service.methods.map(({ localName, methodKind }) => [
      localName,
      methodKind === 'server_streaming' ? wrapStream(client[localName]) : wrapUnary(client[localName]),
    ]),
  ) as Client<S>;
}

type AnyCall = (request: unknown, options?: object) => unknown;

function wrapUnary(call: AnyCall | undefined) {
  return async (request: unknown, options: object = {}): Promise<unknown> => {
    try {
      return await call?.(request, options);
    } catch (error) {
      throw fromConnectError(ConnectError.from(error));
    }
  };
}

function wrapStream(call: AnyCall | undefined) {
  return async function* (request: unknown, options: object = {}): AsyncGenerator {
    try {
      yield* call?.(request, options) as AsyncIterable<unknown>;
    } catch (error) {
      throw fromConnectError(ConnectError.from(error));
    }
  };
}
