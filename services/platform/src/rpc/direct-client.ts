import { create } from '@bufbuild/protobuf';
import type { DescMethod, DescService, Message } from '@bufbuild/protobuf';
import { systemClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { computeDeadline } from '../passed-deadline.ts';
import { withinBounds } from './call-bounds.ts';
import type { CallBounds } from './call-bounds.ts';
import { compileCallCheck } from './call-check.ts';
import { callSpans, runInCallSpan } from './call-span.ts';
import { toProblem } from './problems.ts';
import { findListed, runList } from './serve-list.ts';
import { findMethod, asStream, checkStream } from './served-method.ts';
import { DEADLINE_MS } from './service.ts';
import type { Binding, CallOptions, Caller, Client } from './service.ts';
import { readUntilAborted, newRunningStreams } from './streams.ts';
import type { RunningStreams } from './streams.ts';

/**
 * Calls a service of the same process as `caller`. Refusals and faults are the same as over the network. The clock
 * measures the deadlines.
 */
export function directClient<S extends DescService>(
  service: S,
  binding: Binding,
  caller: Caller,
  clock: Clock = systemClock,
): Client<S> {
  const streams = newRunningStreams();
  return Object.fromEntries(
    service.methods.map((method) => {
      const listed = findListed(binding, method);
      const calling = { caller, streams, clock };
      return [
        method.localName,
        listed === undefined
          ? CALLS[method.methodKind](method, binding, calling)
          : newListCall(method, listed, binding, calling),
      ];
    }),
  ) as unknown as Client<S>;
}

interface CallDeps {
  readonly caller: Caller;
  readonly streams: RunningStreams;
  readonly clock: Clock;
}

/** Runs each call of the list as a single call. */
function newListCall(method: DescMethod, listed: DescMethod, binding: Binding, calling: CallDeps): unknown {
  const check = compileCallCheck(method);
  const callAlone = CALLS.unary(listed, binding, calling) as (one: object, options: CallOptions) => Promise<Message>;
  return async function* (request: Init, options: CallOptions = {}) {
    const list = create(method.input, request);
    check.first(calling.caller, list);
    const messages = runList(listed, list, ({ request: one, requestId }) =>
      callAlone(one, { ...options, requestId, span: undefined }),
    );
    for await (const message of messages) yield create(method.output, message);
  };
}

type NewCall = (method: DescMethod, binding: Binding, calling: CallDeps) => unknown;
type Init = Record<string, unknown>;

const CALLS: Readonly<Record<DescMethod['methodKind'], NewCall>> = {
  unary: (method, binding, { caller, clock }) => {
    const [run, check, begin] = [findMethod(binding, method), compileCallCheck(method), callSpans(method, 'internal')];
    return async (request: Init, options: CallOptions = {}) => {
      const { signal, timeoutMs = DEADLINE_MS, requestId = '' } = options;
      try {
        const message = create(method.input, request);
        const answer = await runInCallSpan(begin(options.span), (span) =>
          withinBounds(toBounds(clock, signal, timeoutMs), async (ending) => {
            check.first(caller, message);
            return run(message, { caller, requestId, signal: ending, span });
          }),
        );
        return create(method.output, answer as Init);
      } catch (thrown) {
        throw toProblem(thrown);
      }
    };
  },
  server_streaming: (method, binding, { caller, streams, clock }) => {
    const [run, check, begin] = [findMethod(binding, method), compileCallCheck(method), callSpans(method, 'internal')];
    return async function* (request: Init, { signal, timeoutMs, requestId = '', span: parent }: CallOptions = {}) {
      const spanned = begin(parent);
      try {
        const message = create(method.input, request);
        check.first(caller, message);
        const answers = streams.run(caller.name, toBounds(clock, signal, timeoutMs), (ending) =>
          asStream(run(message, { caller, requestId, signal: ending, span: spanned.span })),
        );
        for await (const answer of answers) yield create(method.output, answer as Init);
      } catch (thrown) {
        spanned.failed(thrown);
        throw toProblem(thrown);
      } finally {
        spanned.end();
      }
    };
  },
  client_streaming: (method, binding, { caller, clock }) => {
    const [run, check, begin] = [findMethod(binding, method), compileCallCheck(method), callSpans(method, 'internal')];
    return async (requests: AsyncIterable<Init>, options: CallOptions = {}) => {
      const { signal, timeoutMs, requestId = '' } = options;
      try {
        const answer = await runInCallSpan(begin(options.span), (span) =>
          withinBounds(toBounds(clock, signal, timeoutMs), async (ending) => {
            const messages = readUntilAborted(createMessages(method, requests), ending);
            const checked = await checkStream(messages, {
              first: (request) => check.first(caller, request),
              later: (request) => check.later(request),
            });
            return run(checked, { caller, requestId, signal: ending, span });
          }),
        );
        return create(method.output, answer as Init);
      } catch (thrown) {
        throw toProblem(thrown);
      }
    };
  },
  bidi_streaming: () => {
    throw new Error('a stream in both directions is not supported');
  },
};

function toBounds(clock: Clock, gone: AbortSignal | undefined, timeoutMs: number | undefined): CallBounds {
  return { deadline: computeDeadline(gone, timeoutMs, clock), gone, clock };
}

async function* createMessages(method: DescMethod, requests: AsyncIterable<Init>): AsyncGenerator<object> {
  for await (const request of requests) yield create(method.input, request);
}
