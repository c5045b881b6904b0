import type { SecureContextOptions } from 'node:tls';
import { connectGrpc } from '@reelgate/platform/rpc/grpc/client';
import type { GrpcConnection } from '@reelgate/platform/rpc/grpc/client';
import { toSecureContext } from '@reelgate/platform/tls/tls-files';
import { callKey } from '../keys/identities.ts';
import type { Identity } from '../keys/identities.ts';
import type { StartParts } from '../start-parts.ts';

/** Connects to another service for the lifetime of the process. */
export function connect(
  { config, foundation, lifecycle, tls }: StartParts,
  caller: Identity,
  name: 'tasks' | 'billing' | 'media',
): GrpcConnection {
  const connection = connectGrpc(
    config.services[name],
    callKey(caller, name, foundation.signingKey),
    tls.calls,
    config.grpc.calls,
  );
  lifecycle.add(`connection to ${name}`, () => connection.close());
  return connection;
}

/** The newest certificates of calls, for calls over HTTP. */
export function secureContext({ tls: { calls } }: StartParts): (() => SecureContextOptions) | undefined {
  return calls === undefined ? undefined : () => toSecureContext(calls.current());
}
