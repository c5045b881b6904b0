import { create, fromBinary, toBinary, toJson } from '@bufbuild/protobuf';
import type { DescMethod } from '@bufbuild/protobuf';
import { Client, Metadata, credentials } from '@grpc/grpc-js';
import type { ChannelCredentials, ServiceError } from '@grpc/grpc-js';
import { errorOfStatus } from '../src/rpc/grpc-status.ts';
import { fromConnectError } from '../src/rpc/problems.ts';

const DEADLINE_MS = 20_000;
const GRPC_CODES: Readonly<Record<number, string>> = {
  7: 'permission_denied',
  14: 'unavailable',
  16: 'unauthenticated',
};

/** The result of a call as a third-party program sees it. */
export interface Outcome {
  /** `ok`, `permission_denied`, `unauthenticated`, or another code in the words of its protocol. */
  readonly code: string;
  readonly message: string;
  readonly reason?: string | undefined;
  readonly field?: string | undefined;
  /** Present in an answer over gRPC. */
  readonly answer?: unknown;
}

export interface RawCall {
  readonly method: DescMethod;
  readonly request: object;
  /** Absent: the call carries no key. */
  readonly key?: string;
  /** Over gRPC: what the client trusts and shows, in PEM. Absent: plaintext. */
  readonly tls?: RawTls;
}

export interface RawTls {
  readonly ca: string;
  readonly shows?: { readonly certificate: string; readonly key: string };
}

export type CallRaw = (address: string, call: RawCall) => Promise<Outcome>;

/** With bare metadata, as clients in Go and Python do. */
export const callGrpc: CallRaw = async (address, { method, request, key, tls }) => {
  const client = new Client(address, credentialsOf(tls));
  const metadata = new Metadata();
  if (key !== undefined) metadata.set('authorization', `Bearer ${key}`);
  const serialize = (message: unknown): Buffer => Buffer.from(toBinary(method.input, message as never));
  try {
    return await new Promise((resolve) => {
      client.makeUnaryRequest(
        `/${method.parent.typeName}/${method.name}`,
        serialize,
        (bytes: Buffer) => fromBinary(method.output, bytes),
        create(method.input, request as never),
        metadata,
        { deadline: Date.now() + DEADLINE_MS },
        (error, answer) => {
          resolve(error === null ? { code: 'ok', message: '', answer } : outcomeOf(error));
        },
      );
    });
  } finally {
    client.close();
  }
};

/** With JSON over Connect, as with curl. */
export const callJson: CallRaw = async (address, { method, request, key }) => {
  const response = await fetch(`http://${address}/${method.parent.typeName}/${method.name}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(toJson(method.input, create(method.input, request as never))),
  });
  const body = (await response.json()) as {
    readonly code?: string;
    readonly message?: string;
    readonly details?: readonly { readonly debug?: { readonly reason?: string; readonly field?: string } }[];
  };
  const { reason, field } = body.details?.[0]?.debug ?? {};
  return response.ok
    ? { code: 'ok', message: '' }
    : { code: body.code ?? String(response.status), message: body.message ?? '', reason, field };
};

function credentialsOf(tls: RawTls | undefined): ChannelCredentials {
  if (tls === undefined) return credentials.createInsecure();
  const { ca, shows } = tls;
  return shows === undefined
    ? credentials.createSsl(Buffer.from(ca))
    : credentials.createSsl(Buffer.from(ca), Buffer.from(shows.key), Buffer.from(shows.certificate));
}

function outcomeOf(error: ServiceError): Outcome {
  const [details] = error.metadata.get('grpc-status-details-bin');
  const status = errorOfStatus(error.code, error.details, Buffer.isBuffer(details) ? details : undefined);
  const { reason, field } = status === undefined ? {} : fromConnectError(status);
  return { code: GRPC_CODES[error.code] ?? String(error.code), message: error.details, reason, field };
}
