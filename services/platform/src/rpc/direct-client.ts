import { create } from '@bufbuild/protobuf';
import type { DescService } from '@bufbuild/protobuf';
import { systemClock } from '../clock.ts';
import { withinBounds } from './call-bounds.ts';
import { problemOf } from './problems.ts';
import { DEADLINE_MS } from './service.ts';
import type { Binding, CallOptions, Caller, Client } from './service.ts';

const OURSELVES: Caller = { name: 'program', accounts: '*' };

/** Calls a service of the same process: its functions, with messages in and messages out. It fails as a call over the network does. */
export function directClient<S extends DescService>(service: S, binding: Binding): Client<S> {
  const methods = service.methods.map((method) => {
    const call = binding.methods[method.localName];
    if (call === undefined) throw new Error(`${service.typeName} has no ${method.name}`);
    return [method.localName, async (request: Record<string, unknown>, { signal, timeoutMs = DEADLINE_MS, requestId = '' }: CallOptions = {}) => {
      try {
        const bounds = { deadline: systemClock.now() + timeoutMs, gone: signal };
        const answer = await withinBounds(bounds, (ending) => call(create(method.input, request) as never, { caller: OURSELVES, requestId, signal: ending }));
        return create(method.output, answer as Record<string, unknown>);
      } catch (thrown) {
        throw problemOf(thrown);
      }
    }] as const;
  });
  return Object.fromEntries(methods) as unknown as Client<S>;
}
