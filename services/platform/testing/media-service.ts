import { beforeAll, jest } from '@jest/globals';
import { MediaService } from '@reelgate/proto/media/v1/media_service';
import { bind } from '../src/rpc/service.ts';
import type { Binding, Client, Implementation } from '../src/rpc/service.ts';
import { closingTransports } from './rpc-transports.ts';
import type { OpenTransport, Opened } from './rpc-transports.ts';

type Methods = Implementation<typeof MediaService>;

/** A media service with the methods of the test. Its other methods return an empty message. */
export function mediaBinding(methods: Partial<Methods> = {}, service = MediaService): Binding {
  return bind(service, {
    stageMedia: async () => ({}),
    ingestResult: async () => ({}),
    removeResult: async () => ({}),
    linkObject: async () => ({}),
    removePrivate: async () => ({}),
    removeStaged: async () => ({}),
    ...methods,
  });
}

/** Opens a media service with the `stageMedia` of the test, and a client of it. Both are closed after the test. */
export function mediaTransports() {
  const openFor = closingTransports();
  return async (
    open: OpenTransport,
    stageMedia: Methods['stageMedia'],
    service = MediaService,
  ): Promise<Opened & { readonly media: Client<typeof MediaService> }> => {
    const transport = await openFor(open, mediaBinding({ stageMedia }, service));
    return { ...transport, media: transport.client(MediaService) };
  };
}

/** Keeps the RPC libraries from printing the errors with which they also reject. */
export function silenceRpcLibraries(): void {
  beforeAll(() => {
    jest.spyOn(console, 'error').mockImplementation(() => undefined);
  });
}
