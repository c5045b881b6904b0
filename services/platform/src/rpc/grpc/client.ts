import { once } from 'node:events';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { DescMethod, DescService, Message } from '@bufbuild/protobuf';
import { Client as GrpcClient, Metadata } from '@grpc/grpc-js';
import type { ClientOptions, ClientWritableStream, ServiceError } from '@grpc/grpc-js';
import { parseHostPort } from '../../config/units.ts';
import type { Problem } from '../../problem.ts';
import type { Secret } from '../../secret.ts';
import { serviceUnavailable } from '../../service-unavailable.ts';
import type { Keepalive } from './server.ts';
import { currentRequestId } from '../../request-context.ts';
import { computeDeadline } from '../../passed-deadline.ts';
import { fromConnectError, decodeStatus } from '../problems.ts';
import { channelCredentials } from '../../tls/grpc-credentials.ts';
import type { CurrentTls } from '../../tls/tls-files.ts';
import type { Span } from '../../trace/trace.ts';
import { TRACE_HEADER, callSpans, runInCallSpan } from '../call-span.ts';
import type { BeginCallSpan } from '../call-span.ts';
import { newAllowance, readRepeatable, repeatCall } from '../repeats.ts';
import type { AllowRepeat, IsRepeatable, Repeats } from '../repeats.ts';
import { DEADLINE_MS, MESSAGE_BYTES_MAX } from '../service.ts';
import type { CallOptions, Client } from '../service.ts';
import { beginUnaryCall } from './unary-call.ts';
import type { UnaryDone } from './unary-call.ts';

/** The first wait after a connection that failed. */
const RECONNECT_FIRST_MS = 200;
const SERVICE_CONFIG = JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] });

/** The settings by which a client follows the replicas behind a name. */
export interface GrpcSettings {
  /** The least time between two resolutions of a name. A name is resolved again when a connection ends. */
  readonly resolveEveryMs: number;
  /** The longest wait before a replica that could not be reached is tried again. */
  readonly reconnectMaxMs: number;
  /** Pings of an open connection, with or without calls. A replica that does not answer them is gone. */
  readonly keepalive: Keepalive;
  /** The name in the certificate of the service, if `address` is one of the addresses of that name. */
  readonly tlsName?: string | undefined;
}

const GRPC_SETTINGS: GrpcSettings = {
  resolveEveryMs: 1000,
  reconnectMaxMs: 2000,
  keepalive: { everyMs: 20_000, answeredWithinMs: 5000 },
};

/** A connection to the replicas of one program. Several services can be called over it. */
export interface GrpcConnection {
  client<S extends DescService>(service: S): Client<S>;
  /** Resolves when a replica accepts the TCP connection. Rejects after `withinMs`. */
  ready(timeoutMs: number): Promise<void>;
  close(): void;
}

/**
 * Connects to a gRPC service. `address` is host:port or any gRPC target. Calls rotate over the addresses of a name.
 * Without `tls` they are plaintext. With it, the certificate of the service must be for the host of the address. A call
 * is sent again if no handler has seen it, because it never left or the replica refused its stream shortly before
 * closing. A call that a handler may have seen is sent again if its contract allows it.
 */
export function connectGrpc(
  address: string,
  key: Secret,
  tls?: CurrentTls,
  settings: GrpcSettings = GRPC_SETTINGS,
): GrpcConnection {
  const grpc = new GrpcClient(toTarget(address), channelCredentials(tls), toClientOptions(settings));
  const repeats: Repeats = { count: 0 };
  const untilFirst = connectUntilReady(grpc, settings.resolveEveryMs);
  return {
    client: <S extends DescService>(service: S) =>
      Object.fromEntries(
        service.methods.map((method) => [
          method.localName,
          CALLS[method.methodKind](newCallParts({ grpc, key, repeats }, method)),
        ]),
      ) as Client<S>,
    ready: (timeoutMs) =>
      new Promise((resolve, reject) =>
        grpc.waitForReady(Date.now() + timeoutMs, (error) => {
          if (error === undefined) resolve();
          else reject(error);
        }),
      ),
    close: () => {
      clearInterval(untilFirst);
      grpc.close();
    },
  };
}

/**
 * Connects again until the first success. The library keeps the failure of a first resolution, and returns it to the
 * next call, even much later. After the first success it follows the name by itself.
 */
function connectUntilReady(grpc: GrpcClient, everyMs: number): NodeJS.Timeout {
  const timer = setInterval(() => {
    // This ends before the next one begins, so that it never keeps a process alive.
    grpc.waitForReady(Date.now() + everyMs / 2, (error) => {
      if (error === undefined) clearInterval(timer);
    });
  }, everyMs);
  return timer.unref();
}

/** A target has a scheme, which no address has: the name in `dns:9101` is `dns`. */
function toTarget(address: string): string {
  return parseHostPort(address) === undefined ? address : `dns:///${address}`;
}

function toClientOptions({ resolveEveryMs, reconnectMaxMs, keepalive, tlsName }: GrpcSettings): ClientOptions {
  return {
    ...(tlsName === undefined ? {} : { 'grpc.ssl_target_name_override': tlsName }),
    'grpc.service_config': SERVICE_CONFIG,
    // Otherwise each resolution also asks for a TXT record.
    'grpc.service_config_disable_resolution': 1,
    'grpc.dns_min_time_between_resolutions_ms': resolveEveryMs,
    'grpc.initial_reconnect_backoff_ms': Math.min(RECONNECT_FIRST_MS, reconnectMaxMs),
    'grpc.max_reconnect_backoff_ms': reconnectMaxMs,
    'grpc.keepalive_time_ms': keepalive.everyMs,
    'grpc.keepalive_timeout_ms': keepalive.answeredWithinMs,
    'grpc.keepalive_permit_without_calls': 1,
    // Its statistics of each call are read by no part of the program.
    'grpc.enable_channelz': 0,
    'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
    'grpc.max_send_message_length': MESSAGE_BYTES_MAX,
  };
}

interface ConnectionParts {
  readonly grpc: GrpcClient;
  readonly key: Secret;
  readonly repeats: Repeats;
}

interface CallParts extends ConnectionParts {
  readonly method: DescMethod;
  readonly path: string;
  readonly serialize: (message: Message) => Buffer;
  readonly deserialize: (bytes: Buffer) => unknown;
  readonly begin: BeginCallSpan;
  readonly isRepeatable: IsRepeatable;
}

function newCallParts(connection: ConnectionParts, method: DescMethod): CallParts {
  return {
    ...connection,
    method,
    path: `/${method.parent.typeName}/${method.name}`,
    serialize: (message) => Buffer.from(toBinary(method.input, message)),
    deserialize: (bytes) => fromBinary(method.output, bytes),
    begin: callSpans(method, 'client'),
    isRepeatable: readRepeatable(method),
  };
}

/** Bounds the repeats of one call by its deadline and its signal. */
function boundRepeats(
  { repeats, isRepeatable }: CallParts,
  request: Message,
  { signal, deadline }: { readonly signal?: AbortSignal | undefined; readonly deadline?: number },
): AllowRepeat {
  return newAllowance({ repeats, isRepeatable: () => isRepeatable(request), signal, deadline });
}

type Init = Record<string, unknown>;

const CALLS: Readonly<Record<DescMethod['methodKind'], (calling: CallParts) => unknown>> = {
  unary:
    (calling) =>
    (request: Init, options: CallOptions = {}) => {
      const { grpc, method, path, serialize, deserialize, begin } = calling;
      const bounds = toDeadlineOption(options, DEADLINE_MS);
      const message = create(method.input, request);
      return runInCallSpan(begin(options.span), async (span) => {
        const [bytes, metadata] = [serialize(message), buildMetadata(calling, options, span)];
        return repeatCall(
          () =>
            awaitAnswer(options.signal, (done) =>
              beginUnaryCall(grpc, { path, request: bytes, deserialize, metadata, ...bounds }, done),
            ),
          () => boundRepeats(calling, message, { ...bounds, signal: options.signal }),
        );
      });
    },
  server_streaming: (calling) =>
    async function* (request: Init, options: CallOptions = {}) {
      const spanned = calling.begin(options.span);
      const bounds = toDeadlineOption(options);
      const message = create(calling.method.input, request);
      try {
        yield* readStream(calling, message, { ...options, span: spanned.span, ...bounds });
      } catch (problem) {
        spanned.failed(problem);
        throw problem;
      } finally {
        spanned.end();
      }
    },
  client_streaming:
    (calling) =>
    (requests: AsyncIterable<Init>, options: CallOptions = {}) =>
      runInCallSpan(calling.begin(options.span), (span) =>
        awaitAnswer(options.signal, (done, fail) => {
          const { grpc, method, path, serialize, deserialize } = calling;
          const [metadata, bounds] = [buildMetadata(calling, options, span), toDeadlineOption(options)];
          const call = grpc.makeClientStreamRequest(path, serialize, deserialize, metadata, bounds, done);
          sendAll(call, method, requests).catch((error: unknown) => {
            fail(error);
            call.cancel();
          });
          return call;
        }),
      ),
  bidi_streaming: () => {
    throw new Error('a stream in both directions is not supported');
  },
};

type StreamOptions = Omit<CallOptions, 'span'> & { readonly span: Span; readonly deadline?: number };

/**
 * Yields the messages of a stream. Until the first one, a failed stream is opened again under the rules of a unary
 * call. A reader that stops cancels the call.
 */
async function* readStream(
  calling: CallParts,
  message: Message,
  { span, deadline, ...options }: StreamOptions,
): AsyncGenerator {
  const { grpc, path, serialize, deserialize } = calling;
  const metadata = buildMetadata(calling, options, span);
  const bounds = deadline === undefined ? {} : { deadline };
  const allowRepeat = boundRepeats(calling, message, { ...options, ...bounds });
  for (let hasBegun = false; ;) {
    const call = grpc.makeServerStreamRequest(path, serialize, deserialize, message, metadata, bounds);
    const ended = cancelOn(options.signal, call);
    try {
      for await (const answer of call) {
        hasBegun = true;
        yield answer;
      }
      return;
    } catch (error) {
      const problem = fromServiceError(error as ServiceError);
      if (hasBegun) throw problem;
      await allowRepeat(problem);
    } finally {
      ended();
      call.cancel();
    }
  }
}

/** Resolves with the one answer of a call, or rejects with a Problem. `fail` rejects before the call has ended. */
function awaitAnswer(
  signal: AbortSignal | undefined,
  begin: (done: UnaryDone, fail: (error: unknown) => void) => Cancellable,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let ended = (): void => undefined;
    const call = begin((error, answer) => {
      ended();
      if (error === null) resolve(answer);
      else reject(fromServiceError(error));
    }, reject);
    ended = cancelOn(signal, call);
  });
}

interface Cancellable {
  cancel(): void;
}

/** Cancels the call when the signal is aborted. Returns a function that removes the listener. */
function cancelOn(signal: AbortSignal | undefined, call: Cancellable): () => void {
  const cancel = (): void => call.cancel();
  if (signal?.aborted === true) cancel();
  else signal?.addEventListener('abort', cancel, { once: true });
  return () => {
    signal?.removeEventListener('abort', cancel);
  };
}

async function sendAll(
  call: ClientWritableStream<Message>,
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

function buildMetadata(
  { key }: CallParts,
  { requestId = currentRequestId() }: CallOptions,
  { carrier }: Span,
): Metadata {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${key.reveal()}`);
  if (requestId !== undefined) metadata.set('x-request-id', requestId);
  if (carrier !== undefined) metadata.set(TRACE_HEADER, carrier);
  return metadata;
}

function toDeadlineOption({ signal, timeoutMs }: CallOptions, defaultMs?: number): { readonly deadline?: number } {
  const deadline = computeDeadline(signal, timeoutMs ?? defaultMs);
  return deadline === undefined ? {} : { deadline };
}

function fromServiceError(error: ServiceError): Problem {
  const [details] = error.metadata.get('grpc-status-details-bin');
  const status = decodeStatus(error.code, error.details, Buffer.isBuffer(details) ? details : undefined);
  return status === undefined ? serviceUnavailable(error) : fromConnectError(status);
}
