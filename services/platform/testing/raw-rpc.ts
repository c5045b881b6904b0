import { create, fromBinary, toBinary, toJson } from '@bufbuild/protobuf';
import type { DescMethod } from '@bufbuild/protobuf';
import { Client, Metadata, credentials } from '@grpc/grpc-js';
import type { ChannelCredentials, ServiceError } from '@grpc/grpc-js';
import { fromConnectError, decodeStatus } from '../src/rpc/problems.ts';

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

/** With bare metadata, as clients in Go and Python do. Of a stream of answers, the first decides. */
export const callGrpc: CallRaw = async (address, { method, request, key, tls }) => {
  const client = new Client(address, credentialsOf(tls));
  const metadata = new Metadata();
  if (key !== undefined) metadata.set('authorization', `Bearer ${key}`);
  const serialize = (message: unknown): Buffer => Buffer.from(toBinary(method.input, message as never));
  const deserialize = (bytes: Buffer): unknown => fromBinary(method.output, bytes);
  const path = `/${method.parent.typeName}/${method.name}`;
  const message = create(method.input, request as never);
  const options = { deadline: Date.now() + DEADLINE_MS };
  try {
    return await new Promise((resolve) => {
      const answered = (error: ServiceError | null, answer?: unknown): void => {
        resolve(error === null ? { code: 'ok', message: '', answer } : outcomeOf(error));
      };
      if (method.methodKind === 'unary')
        client.makeUnaryRequest(path, serialize, deserialize, message, metadata, options, answered);
      else if (method.methodKind === 'client_streaming')
        client.makeClientStreamRequest(path, serialize, deserialize, metadata, options, answered).end(message);
      else {
        const answers = client.makeServerStreamRequest(path, serialize, deserialize, message, metadata, options);
        answers.on('error', answered);
        answers.on('end', () => {
          answered(null);
        });
        answers.on('data', (answer) => {
          answered(null, answer);
          answers.cancel();
        });
      }
    });
  } finally {
    client.close();
  }
};

interface WireError {
  readonly code?: string;
  readonly message?: string;
  readonly details?: readonly { readonly debug?: { readonly reason?: string; readonly field?: string } }[];
}

/** With JSON over Connect, as with curl. Of a stream of answers, the first decides. */
export const callJson: CallRaw = async (address, { method, request, key }) => {
  const isStream = method.methodKind !== 'unary';
  const body = JSON.stringify(toJson(method.input, create(method.input, request as never)));
  const response = await fetch(`http://${address}/${method.parent.typeName}/${method.name}`, {
    method: 'POST',
    headers: {
      'content-type': `application/${isStream ? 'connect+' : ''}json`,
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    body: isStream ? enveloped(body) : body,
  });
  const error = isStream
    ? await firstError(response)
    : response.ok
      ? undefined
      : ((await response.json()) as WireError);
  if (error === undefined) return { code: 'ok', message: '' };
  const { reason, field } = error.details?.[0]?.debug ?? {};
  return { code: error.code ?? String(response.status), message: error.message ?? '', reason, field };
};

function credentialsOf(tls: RawTls | undefined): ChannelCredentials {
  if (tls === undefined) return credentials.createInsecure();
  const { ca, shows } = tls;
  return shows === undefined
    ? credentials.createSsl(Buffer.from(ca))
    : credentials.createSsl(Buffer.from(ca), Buffer.from(shows.key), Buffer.from(shows.certificate));
}

const ENVELOPE_HEAD_BYTES = 5;
const END_OF_STREAM = 2;

function enveloped(text: string): Buffer {
  const head = Buffer.alloc(ENVELOPE_HEAD_BYTES);
  head.writeUInt32BE(Buffer.byteLength(text), 1);
  return Buffer.concat([head, Buffer.from(text)]);
}

/** The error with which a stream ends before its first message. */
async function firstError(response: Response): Promise<WireError | undefined> {
  let bytes = Buffer.alloc(0);
  for await (const part of response.body ?? []) {
    bytes = Buffer.concat([bytes, part]);
    if (bytes.length < ENVELOPE_HEAD_BYTES) continue;
    const end = ENVELOPE_HEAD_BYTES + bytes.readUInt32BE(1);
    if (bytes.length < end) continue;
    const isEnd = ((bytes[0] ?? 0) & END_OF_STREAM) !== 0;
    const text = bytes.subarray(ENVELOPE_HEAD_BYTES, end).toString();
    return isEnd ? (JSON.parse(text) as { readonly error?: WireError }).error : undefined;
  }
  return { code: String(response.status), message: 'the stream has no end' };
}

function outcomeOf(error: ServiceError): Outcome {
  const [details] = error.metadata.get('grpc-status-details-bin');
  const status = decodeStatus(error.code, error.details, Buffer.isBuffer(details) ? details : undefined);
  const { reason, field } = status === undefined ? {} : fromConnectError(status);
  return { code: GRPC_CODES[error.code] ?? String(error.code), message: error.details, reason, field };
}
