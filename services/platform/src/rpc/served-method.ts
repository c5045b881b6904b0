import { create } from '@bufbuild/protobuf';
import type { DescMethod, Message } from '@bufbuild/protobuf';
import { Problem, readErrorType } from '../problem.ts';
import type { Log } from '../log.ts';
import { inTrace } from '../request-context.ts';
import type { TraceContinuer } from '../trace/trace.ts';
import type { WrongKeys } from '../limits/wrong-keys.ts';
import { compileCallCheck } from './call-check.ts';
import { isFault } from './problems.ts';
import { findListed, runList } from './serve-list.ts';
import { callSpans, runInCallSpan } from './call-span.ts';
import type { CallSpan } from './call-span.ts';
import type { IdentifyCaller, PeerNames } from './callers.ts';
import type { CallBounds, RunningCalls } from './call-bounds.ts';
import type { AnyMethod, Binding, CallContext, Caller } from './service.ts';
import { DEPRECATED_HEADER } from './deprecations.ts';
import type { RecordDeprecated } from './deprecations.ts';
import { readUntilAborted } from './streams.ts';
import type { RunningStreams } from './streams.ts';
import { systemClock } from '../clock.ts';

/** The facts that a transport knows about a caller before it has read a byte of its request. */
export interface Peer {
  readonly authorization: string | undefined;
  /** The names in the client certificate of the connection. */
  readonly peerNames: PeerNames;
  /** The address of the other end of the connection. */
  readonly peerAddress: () => string;
}

/** The facts that a transport knows about a call. */
export interface IncomingCall extends Peer {
  readonly requestId: string;
  /** The `traceparent` that the caller sent. */
  readonly carrier: string | undefined;
  readonly bounds: CallBounds;
  /** Sets a header of the answer, before its first message. */
  readonly setHeader: (name: string, value: string) => void;
}

/** The means to identify a caller. */
export interface CallerDeps {
  readonly identify: IdentifyCaller;
  readonly wrongKeys: WrongKeys;
}

export interface ServingDeps extends CallerDeps {
  readonly calls: RunningCalls;
  readonly streams: RunningStreams;
  readonly deprecations: (method: DescMethod) => RecordDeprecated;
  readonly log: Log;
  readonly tracing: TraceContinuer;
}

/**
 * A method after its checks, as every transport of a server calls it. The method's kind decides which function applies.
 */
export interface ServedMethod {
  unary(call: IncomingCall, request: object): Promise<Message>;
  serverStream(call: IncomingCall, request: object): AsyncGenerator<Message>;
  /**
   * The access rule is checked on the first message, before the method runs. The rules of the fields are checked on
   * every message.
   */
  clientStream(call: IncomingCall, requests: AsyncIterable<object>): Promise<Message>;
}

/** Throws if the binding lacks the method, or if a rule of it is not valid. */
export function newServedMethod(binding: Binding, method: DescMethod, serving: ServingDeps): ServedMethod {
  const listed = findListed(binding, method);
  if (listed !== undefined) return serveList(method, listed, newServedMethod(binding, listed, serving), serving);
  const run = findMethod(binding, method);
  const check = compileCallCheck(method);
  const recordDeprecated = serving.deprecations(method);
  const logCall = callLog(method, serving.log);
  const checkFirst = (caller: Caller, request: object, { setHeader }: IncomingCall): void => {
    check.first(caller, request);
    recordDeprecated(request, (names) => setHeader(DEPRECATED_HEADER, names));
  };
  const findCaller = (call: IncomingCall): Caller => identifyCaller(serving, call);
  const begin = callSpans(method, 'server');
  // A caller is known before its trace is continued.
  const beginSpan = ({ carrier }: IncomingCall): CallSpan => begin(serving.tracing.enter(carrier));
  const answer = (init: unknown): Message => create(method.output, init as Record<string, unknown>);
  const runCall = (call: IncomingCall, work: (context: CallContext) => Promise<unknown>): Promise<Message> =>
    serving.calls.run(method.name, call.bounds, async (signal) => {
      const caller = findCaller(call);
      return runInCallSpan(beginSpan(call), (span) =>
        inTrace(span.traceId, () =>
          logCall(caller, async () => answer(await work({ caller, signal, requestId: call.requestId, span }))),
        ),
      );
    });
  return {
    unary: (call, request) =>
      runCall(call, async (context) => {
        checkFirst(context.caller, request, call);
        return run(request, context);
      }),
    async *serverStream(call, request) {
      const caller = findCaller(call);
      const { span, failed, end } = beginSpan(call);
      try {
        checkFirst(caller, request, call);
        const messages = serving.streams.run(caller.name, call.bounds, (signal) =>
          asStream(run(request, { caller, signal, requestId: call.requestId, span })),
        );
        for await (const message of messages) yield answer(message);
      } catch (thrown) {
        failed(thrown);
        throw thrown;
      } finally {
        end();
      }
    },
    clientStream: (call, requests) =>
      runCall(call, async (context) => {
        const checked = await checkStream(readUntilAborted(requests, context.signal), {
          first: (request) => checkFirst(context.caller, request, call),
          later: (request) => check.later(request),
        });
        return run(checked, context);
      }),
  };
}

/**
 * A list is a way by which calls come: each has the checks, the span, the measurement and the log line of a call of its
 * own. A stop of the server waits for them, as it does for calls of one answer.
 */
function serveList(method: DescMethod, listed: DescMethod, served: ServedMethod, serving: ServingDeps): ServedMethod {
  const check = compileCallCheck(method);
  return {
    ...served,
    async *serverStream(call, request) {
      check.first(identifyCaller(serving, call), request);
      const messages = runList(listed, request, ({ request: one, requestId, carrier }) =>
        served.unary({ ...call, requestId, carrier, setHeader: () => undefined }, one).catch((thrown: unknown) => {
          if (isFault(thrown)) serving.log.error({ method: listed.name, err: thrown }, 'a call of a list failed');
          throw thrown;
        }),
      );
      for await (const message of messages) yield create(method.output, message);
    },
  };
}

/** Identifies the caller by its key. A wrong key is reported with the caller's address. */
export function identifyCaller(
  { identify, wrongKeys }: CallerDeps,
  { authorization, peerNames, peerAddress }: Peer,
): Caller {
  try {
    return identify(authorization, peerNames);
  } catch (refusal) {
    if (authorization !== undefined) wrongKeys.note(peerAddress(), 'wrong');
    throw refusal;
  }
}

/** The method of a binding. Throws if it is missing. */
export function findMethod({ service, methods }: Binding, { localName, name }: DescMethod): AnyMethod {
  const method = methods[localName];
  if (method === undefined) throw new Error(`${service.typeName} has no ${name}`);
  return method;
}

/** Returns the result of a method of the kind `server_streaming`, which is always a stream. */
export function asStream(given: Promise<unknown> | AsyncIterable<unknown>): AsyncIterable<unknown> {
  return given as AsyncIterable<unknown>;
}

/** Reads and checks the first message, and returns all messages with it in front, each checked. */
export async function checkStream(
  requests: AsyncGenerator<object>,
  check: { readonly first: (request: object) => void; readonly later: (request: object) => void },
): Promise<AsyncIterable<object>> {
  const first = await requests.next();
  if (first.done === true) {
    throw new Problem({
      kind: 'invalid',
      reason: 'invalid_request',
      message: 'the stream has no message; send the first one before you close it',
    });
  }
  try {
    check.first(first.value);
  } catch (refusal) {
    await requests.return(undefined);
    throw refusal;
  }
  return (async function* () {
    yield first.value;
    for await (const request of requests) {
      check.later(request);
      yield request;
    }
  })();
}

/** Calls that do not change data, and calls that workers repeat all the time. */
const QUIET = /^(Authenticate|Check|Classify|Diagnose|Estimate|Get|Lease|List|Quote|Renew|Show|Verify|Watch)/;

const OK = 'ok';

/** Writes one line for a call when it ends: at info if it may have changed something, at debug otherwise. */
type LogCall = <T>(caller: Caller, run: () => Promise<T>) => Promise<T>;

function callLog({ parent, name }: DescMethod, log: Log): LogCall {
  const level = QUIET.test(name) ? 'debug' : 'info';
  const method = `${parent.name}/${name}`;
  return async ({ name: caller }, run) => {
    const startedAt = systemClock.now();
    const end = (outcome: string): void => {
      const fields = { method, caller, outcome, ms: systemClock.now() - startedAt };
      log.access({ level, failed: outcome !== OK }, fields, 'call');
    };
    try {
      const answer = await run();
      end(OK);
      return answer;
    } catch (thrown) {
      end(readErrorType(thrown));
      throw thrown;
    }
  };
}
