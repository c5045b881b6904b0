import { create } from '@bufbuild/protobuf';
import type { DescService } from '@bufbuild/protobuf';
import { problemOf, serviceUnavailable } from './problems.ts';
import { DEADLINE_MS } from './service.ts';
import type { Binding, CallOptions, Caller, Client } from './service.ts';

const OURSELVES: Caller = { name: 'program', accounts: '*' };

/** Calls a service of the same process: its functions, with messages in and messages out. It fails as a call over the network does. */
export function directClient<S extends DescService>(service: S, binding: Binding): Client<S> {
  const methods = service.methods.map((method) => {
    const call = binding.methods[method.localName];
    if (call === undefined) throw new Error(`${service.typeName} has no ${method.name}`);
    return [method.localName, async (request: Record<string, unknown>, { signal, timeoutMs = DEADLINE_MS, requestId = '' }: CallOptions = {}) => {
      const answer = await inTime({ signal, timeoutMs }, (ending) => call(create(method.input, request) as never, { caller: OURSELVES, requestId, signal: ending }));
      return create(method.output, answer as Record<string, unknown>);
    }] as const;
  });
  return Object.fromEntries(methods) as unknown as Client<S>;
}

interface Bounds {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
}

/** Gives up at the deadline and when the caller aborts, even on a method that does not listen; nothing of a bound outlives the call. */
async function inTime({ signal, timeoutMs }: Bounds, call: (ending: AbortSignal) => Promise<unknown>): Promise<unknown> {
  if (signal?.aborted === true) throw serviceUnavailable(signal.reason);
  const ending = new AbortController();
  const { promise: over, reject } = Promise.withResolvers<never>();
  const giveUp = (): void => {
    reject(serviceUnavailable(signal?.reason));
    ending.abort();
  };
  const deadline = setTimeout(giveUp, timeoutMs);
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    return await Promise.race([over, call(ending.signal)]);
  } catch (thrown) {
    throw problemOf(thrown);
  } finally {
    clearTimeout(deadline);
    signal?.removeEventListener('abort', giveUp);
  }
}
