import { create } from '@bufbuild/protobuf';
import type { DescService } from '@bufbuild/protobuf';
import { systemClock } from '../clock.ts';
import { accessCheckOf } from './access.ts';
import { withinBounds } from './call-bounds.ts';
import { problemOf } from './problems.ts';
import { DEADLINE_MS } from './service.ts';
import type { Binding, CallOptions, Caller, Client } from './service.ts';

/** Calls a service of the same process as `caller`. Refusals and faults are the same as over the network. */
export function directClient<S extends DescService>(service: S, binding: Binding, caller: Caller): Client<S> {
  const methods = service.methods.map((method) => {
    const call = binding.methods[method.localName];
    if (call === undefined) throw new Error(`${service.typeName} has no ${method.name}`);
    const assertMayCall = accessCheckOf(method);
    return [
      method.localName,
      async (
        request: Record<string, unknown>,
        { signal, timeoutMs = DEADLINE_MS, requestId = '' }: CallOptions = {},
      ) => {
        try {
          const bounds = { deadline: systemClock.now() + timeoutMs, gone: signal };
          const message = create(method.input, request);
          const answer = await withinBounds(bounds, (ending) => {
            assertMayCall(caller, message);
            return call(message as never, { caller, requestId, signal: ending });
          });
          return create(method.output, answer as Record<string, unknown>);
        } catch (thrown) {
          throw problemOf(thrown);
        }
      },
    ] as const;
  });
  return Object.fromEntries(methods) as unknown as Client<S>;
}
