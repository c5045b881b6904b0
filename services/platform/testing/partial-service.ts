import type { DescService } from '@bufbuild/protobuf';
import { beforeAll, jest } from '@jest/globals';
import { bind } from '../src/rpc/service.ts';
import type { Binding, Implementation } from '../src/rpc/service.ts';

/**
 * A service with the methods of the test. Its other methods return an empty message, and those in `lists` run calls of
 * another one.
 */
export function partialService<S extends DescService>(
  service: S,
  methods: Partial<Implementation<S>> = {},
  lists: Readonly<Record<string, string>> = {},
): Binding {
  const own = service.methods.filter(({ localName }) => !(localName in lists));
  const empty = Object.fromEntries(own.map(({ localName }) => [localName, async () => ({})]));
  return { ...bind(service, { ...empty, ...methods } as Implementation<S>), lists };
}

/** Keeps the RPC libraries from printing the errors with which they also reject. */
export function silenceRpcLibraries(): void {
  beforeAll(() => {
    jest.spyOn(console, 'error').mockImplementation(() => undefined);
  });
}
