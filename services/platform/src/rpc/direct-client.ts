import { create } from '@bufbuild/protobuf';
import type { DescService } from '@bufbuild/protobuf';
import { DEADLINE_MS } from './service.ts';
import type { Binding, CallContext, CallOptions, Caller, Client } from './service.ts';

const OURSELVES: Caller = { name: 'program', accounts: '*' };

/** Calls a service of the same process: its functions, with messages in and messages out. */
export function directClient<S extends DescService>(service: S, binding: Binding): Client<S> {
  const methods = service.methods.map((method) => {
    const call = binding.methods[method.localName];
    if (call === undefined) throw new Error(`${service.typeName} has no ${method.name}`);
    return [method.localName, async (request: Record<string, unknown>, options: CallOptions = {}) => {
      const answer = await call(create(method.input, request) as never, contextOf(options));
      return create(method.output, answer as Record<string, unknown>);
    }] as const;
  });
  return Object.fromEntries(methods) as unknown as Client<S>;
}

function contextOf({ signal, timeoutMs = DEADLINE_MS, requestId = '' }: CallOptions): CallContext {
  const deadline = AbortSignal.timeout(timeoutMs);
  return { caller: OURSELVES, requestId, signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]) };
}
