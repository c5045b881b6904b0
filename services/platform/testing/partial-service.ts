import type { DescService } from '@bufbuild/protobuf';
import { beforeAll, jest } from '@jest/globals';
import { bind } from '../src/rpc/service.ts';
import type { Binding, Implementation } from '../src/rpc/service.ts';

/** A service with the methods of the test. Its other methods return an empty message. */
export function partialService<S extends DescService>(service: S, methods: Partial<Implementation<S>> = {}): Binding {
  const empty = Object.fromEntries(service.methods.map(({ localName }) => [localName, async () => ({})]));
  return bind(service, { ...empty, ...methods } as Implementation<S>);
}

/** Keeps the RPC libraries from printing the errors with which they also reject. */
export function silenceRpcLibraries(): void {
  beforeAll(() => {
    jest.spyOn(console, 'error').mockImplementation(() => undefined);
  });
}
