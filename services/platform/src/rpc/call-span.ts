import type { DescMethod } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { readErrorType } from '../problem.ts';
import type { Span, SpanKind } from '../trace/trace.ts';
import { NO_SPAN } from '../trace/trace.ts';
import { toConnectError } from './problems.ts';

/** The metadata and the header in which a caller sends its carrier. */
export const TRACE_HEADER = 'traceparent';

/**
 * The statuses that are the server's fault. Any other status concerns the request, and fails the caller's span alone.
 */
const SERVER_FAULTS: ReadonlySet<Code> = new Set([
  Code.Unknown,
  Code.DeadlineExceeded,
  Code.Unimplemented,
  Code.Internal,
  Code.Unavailable,
  Code.DataLoss,
]);

/** Begins the span of a call below the span of its caller or of the receiver. */
export type BeginCallSpan = (parent: Span | undefined) => CallSpan;

export interface CallSpan {
  readonly span: Span;
  readonly failed: (thrown: unknown) => void;
  /** At every end, also when a reader leaves a stream. */
  readonly end: () => void;
}

const NO_CALL_SPAN: CallSpan = { span: NO_SPAN, failed: () => undefined, end: () => undefined };

export function callSpans({ parent: { typeName }, name }: DescMethod, kind: SpanKind): BeginCallSpan {
  const method = `${typeName}/${name}`;
  const attributes = { 'rpc.system.name': 'grpc', 'rpc.method': method };
  return (parent = NO_SPAN) => {
    if (parent === NO_SPAN) return NO_CALL_SPAN;
    const span = parent.child(method, { kind, attributes });
    let status = 'OK';
    return {
      span,
      failed: (thrown) => {
        const { code } = thrown instanceof ConnectError ? thrown : toConnectError(thrown);
        status = toStatusName(code);
        if (kind !== 'server' || SERVER_FAULTS.has(code)) span.fail(readErrorType(thrown));
      },
      end: () => {
        span.set({ 'rpc.status_code': status });
        span.end();
      },
    };
  };
}

/** Runs a call of one answer. */
export function runInCallSpan<T>(call: CallSpan, run: (span: Span) => Promise<T>): Promise<T> {
  return call === NO_CALL_SPAN ? run(NO_SPAN) : endWith(call, run);
}

async function endWith<T>(call: CallSpan, run: (span: Span) => Promise<T>): Promise<T> {
  try {
    return await run(call.span);
  } catch (thrown) {
    call.failed(thrown);
    throw thrown;
  } finally {
    call.end();
  }
}

/** `NOT_FOUND` for the code `NotFound`. */
function toStatusName(code: Code): string {
  return (Code[code] ?? 'Unknown').replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
}
