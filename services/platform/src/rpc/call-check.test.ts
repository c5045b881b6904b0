import { describe, expect, test } from '@jest/globals';
import { MediaService } from '@reelgate/proto/media/v1/media_service';
import { partialService, silenceRpcLibraries } from '../../testing/partial-service.ts';
import { readFields, catchRefusal } from '../../testing/refusals.ts';
import { TRANSPORTS, closingTransports, openConnect, openGrpc } from '../../testing/rpc-transports.ts';
import type { OpenTransport } from '../../testing/rpc-transports.ts';
import { RuledStreamService } from '../../testing/stream-service.ts';
import { compileCallCheck } from './call-check.ts';
import { bind } from './service.ts';

const openFor = closingTransports();
silenceRpcLibraries();

/** Media, and what its methods have seen. */
async function media(open: OpenTransport) {
  const seen: string[] = [];
  const opened = await openFor(
    open,
    partialService(MediaService, {
      linkObject: async ({ object }) => {
        seen.push(object);
        return {};
      },
      stageMedia: async ({ taskId }) => {
        seen.push(taskId);
        return {};
      },
    }),
  );
  return { opened, seen };
}

/** A stream service, and what its methods have seen. */
async function streams(open: OpenTransport) {
  const seen: string[] = [];
  const { client } = await openFor(
    open,
    bind(RuledStreamService, {
      async *spell({ value }) {
        seen.push(value);
        yield { value };
      },
      join: async (requests) => {
        for await (const { value } of requests) seen.push(value);
        return { value: seen.join('+') };
      },
    }),
  );
  return { client: client(RuledStreamService), seen };
}

const tooLong = {
  kind: 'invalid',
  reason: 'invalid_request',
  field: 'value',
  message: 'must have at most 3 characters; it has 4',
};

describe.each(TRANSPORTS)('over %s', (_name, open) => {
  test('a request that breaks a rule is refused before its method', async () => {
    const { opened, seen } = await media(open);
    const client = opened.client(MediaService);

    expect(readFields(await catchRefusal(client.linkObject({})))).toMatchObject({
      kind: 'invalid',
      reason: 'invalid_request',
      field: 'object',
      message: 'is required',
    });
    await client.linkObject({ object: 'obj_1' });

    expect(seen).toEqual(['obj_1']);
    expect(opened.logged).toEqual([]);
  });

  test('an enum value that the contract does not know is refused by its name', async () => {
    const { opened, seen } = await media(open);

    expect(
      readFields(
        await catchRefusal(opened.client(MediaService).stageMedia({ accountId: 'demo', category: 9 as never })),
      ),
    ).toMatchObject({
      reason: 'invalid_request',
      field: 'category',
      message:
        'has the unknown value 9; must be one of CATEGORY_IMAGE, CATEGORY_VIDEO, CATEGORY_AUDIO, CATEGORY_BASE_VIDEO',
    });
    expect(seen).toEqual([]);
  });

  test('the request of a stream of answers is checked before its method', async () => {
    const { client, seen } = await streams(open);

    const refusal = await catchRefusal(client.spell({ value: 'four' })[Symbol.asyncIterator]().next());

    expect(readFields(refusal)).toMatchObject(tooLong);
    expect(seen).toEqual([]);
  });

  test('every message of a stream of requests is checked before its method sees it', async () => {
    const { client, seen } = await streams(open);

    const refusal = await catchRefusal(
      client.join(
        (async function* () {
          yield { value: 'one' };
          yield { value: 'four' };
        })(),
      ),
    );

    expect(readFields(refusal)).toMatchObject(tooLong);
    expect(seen).toEqual(['one']);
  });
});

test.each([
  ['gRPC', openGrpc],
  ['Connect with JSON', openConnect],
] as const)('over %s the access rule comes first', async (_name, open) => {
  const { opened } = await media(open);

  expect(await catchRefusal(opened.client(MediaService, 'key-of-the-reader').linkObject({}))).toMatchObject({
    reason: 'scope_missing',
  });
});

test('the servers and clients of one process share the check of a method', () => {
  const { linkObject, stageMedia } = MediaService.method;

  expect(compileCallCheck(linkObject)).toBe(compileCallCheck(linkObject));
  expect(compileCallCheck(linkObject)).not.toBe(compileCallCheck(stageMedia));
});
