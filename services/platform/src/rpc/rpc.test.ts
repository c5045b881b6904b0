import { describe, expect, test } from '@jest/globals';
import { Scope } from '@reelgate/proto/access/v1/access';
import { Category, MediaService as MediaContract } from '@reelgate/proto/media/v1/media_service';
import { unruled } from '../../testing/unruled.ts';
import type { StageMediaRequest } from '@reelgate/proto/media/v1/media_service';
import { aCaller } from '../../testing/a-caller.ts';
import { aGate, inTime } from '../../testing/bounded-waits.ts';
import { partialService, silenceRpcLibraries } from '../../testing/partial-service.ts';
import { EVERY_KIND, readFields, catchRefusal } from '../../testing/refusals.ts';
import { TRANSPORTS, closingTransports } from '../../testing/rpc-transports.ts';
import type { OpenTransport } from '../../testing/rpc-transports.ts';
import { Problem } from '../problem.ts';
import { directClient } from './direct-client.ts';
import type { Implementation } from './service.ts';

const MediaService = unruled(MediaContract);

const openFor = closingTransports();
silenceRpcLibraries();

/** A media service with one method from the test, and a client of it. */
async function opened(open: OpenTransport, stageMedia: Implementation<typeof MediaService>['stageMedia']) {
  const transport = await openFor(open, partialService(MediaService, { stageMedia }));
  return { ...transport, media: transport.client(MediaService) };
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else
      signal.addEventListener('abort', () => {
        resolve();
      });
  });

describe.each(TRANSPORTS)('over %s', (_name, open) => {
  test('a request and its answer arrive as they were sent', async () => {
    const asked = {
      accountId: 'demo',
      taskId: 'ä – 漢字 😀',
      category: Category.VIDEO,
      url: 'https://a.example/?q=%20&b',
      object: '',
      declaredType: 'video/mp4',
    };
    const media = {
      object: 'sha',
      mediaType: 'video/mp4',
      bytes: 2n ** 60n,
      width: -1,
      height: 768,
      durationMs: 9_007_199_254_740_993n,
      frameRate: 29.97,
      hasAudio: true,
    };
    const seen: StageMediaRequest[] = [];
    const { media: client } = await opened(open, async (request) => {
      seen.push(request);
      return { media };
    });

    const answer = await client.stageMedia(asked);

    expect(seen).toMatchObject([asked]);
    expect(answer).toMatchObject({ $typeName: 'reelgate.media.v1.StageMediaResponse', media });
  });

  test('an omitted field has its default on both sides', async () => {
    const seen: StageMediaRequest[] = [];
    const { media } = await opened(open, async (request) => {
      seen.push(request);
      return {};
    });

    const answer = await media.stageMedia({});

    expect(seen).toMatchObject([{ accountId: '', category: Category.UNSPECIFIED }]);
    expect(answer.media).toBeUndefined();
  });

  test('concurrent calls get their own answers', async () => {
    const { media } = await opened(open, async ({ url }) => ({ media: { object: `object of ${url}` } }));
    const urls = Array.from({ length: 50 }, (_, number) => `url-${number}`);

    const answers = await Promise.all(urls.map((url) => media.stageMedia({ url })));

    expect(answers.map((answer) => answer.media?.object)).toEqual(urls.map((url) => `object of ${url}`));
  });

  test('a message of several megabytes passes', async () => {
    const { media } = await opened(open, async ({ url }) => ({ media: { object: url } }));
    const url = 'x'.repeat(4 * 1024 * 1024);

    expect((await media.stageMedia({ url })).media?.object).toHaveLength(url.length);
  });

  test('the request id is passed on, and is empty when there is none', async () => {
    const { media } = await opened(open, async (_request, { requestId }) => ({ media: { object: requestId } }));

    expect((await media.stageMedia({}, { requestId: 'req-1' })).media?.object).toBe('req-1');
    expect((await media.stageMedia({})).media?.object).toBe('');
  });

  test.each(EVERY_KIND)(
    'a Problem of the kind %s arrives with every field, and is not logged as a fault',
    async (kind) => {
      const problem = {
        kind,
        reason: 'a_reason',
        message: 'must be 100% “so”,\nnot ä 漢字 😀',
        field: 'content[0].url',
        retryAfterMs: 1500,
      };
      const { media, logged } = await opened(open, async () => {
        throw new Problem({ ...problem, cause: new Error('for the log alone') });
      });

      const refusal = await catchRefusal(media.stageMedia({}));

      expect(readFields(refusal)).toEqual(problem);
      expect(logged).toEqual([]);
    },
  );

  test('a Problem without field and time has none on the other side', async () => {
    const { media } = await opened(open, async () => {
      throw new Problem({ kind: 'gone', reason: 'result_expired', message: 'it is no longer kept' });
    });

    const { field, retryAfterMs } = await catchRefusal(media.stageMedia({}));

    expect([field, retryAfterMs]).toEqual([undefined, undefined]);
  });

  test('any other thrown error becomes internal and reveals nothing', async () => {
    const { media } = await opened(open, async () => {
      throw new Error('password=hunter2');
    });

    const refusal = await catchRefusal(media.stageMedia({}));

    expect(readFields(refusal)).toEqual({
      kind: 'internal',
      reason: 'internal_error',
      message: 'something went wrong here',
      field: undefined,
      retryAfterMs: undefined,
    });
    expect(JSON.stringify(refusal) + refusal.toString()).not.toContain('hunter2');
  });

  test('a fault does not end the server', async () => {
    let calls = 0;
    const { media } = await opened(open, async () => {
      calls += 1;
      if (calls === 1) throw new TypeError('undefined is not a function');
      return { media: { object: 'fine' } };
    });
    await catchRefusal(media.stageMedia({}));

    expect((await media.stageMedia({})).media?.object).toBe('fine');
  });

  test('a call ends at its deadline, and the signal of its method is aborted', async () => {
    const aborted = aGate();
    const { media } = await opened(open, async (_request, { signal }) => {
      await untilAborted(signal);
      aborted.open();
      throw new Error('given up');
    });

    const refusal = await catchRefusal(media.stageMedia({}, { timeoutMs: 50 }));

    expect(refusal).toMatchObject({ kind: 'unavailable', reason: 'service_unavailable' });
    await inTime(aborted.opened);
  });

  test('a call ends at its deadline even when the method ignores the signal', async () => {
    const gate = aGate();
    const { media } = await opened(open, async () => {
      await gate.opened;
      return {};
    });

    const refusal = await catchRefusal(media.stageMedia({}, { timeoutMs: 50 }));

    gate.open();
    expect(refusal).toMatchObject({ kind: 'unavailable', reason: 'service_unavailable' });
  });

  test('a client that aborts gets its answer at once, and the signal of the method is aborted', async () => {
    const [begun, aborted] = [aGate(), aGate()];
    const { media } = await opened(open, async (_request, { signal }) => {
      begun.open();
      await untilAborted(signal);
      aborted.open();
      throw new Error('given up');
    });
    const stopping = new AbortController();

    const call = catchRefusal(media.stageMedia({}, { signal: stopping.signal }));
    await inTime(begun.opened);
    stopping.abort();

    expect(await call).toMatchObject({ kind: 'unavailable', reason: 'service_unavailable' });
    await inTime(aborted.opened);
  });

  test('the signal of a method that ended in time is not aborted later', async () => {
    const stopping = new AbortController();
    const { media } = await opened(open, async () => ({ media: { object: 'done' } }));

    const answer = await media.stageMedia({}, { signal: stopping.signal });
    stopping.abort();

    expect(answer.media?.object).toBe('done');
  });
});

describe.each(TRANSPORTS.filter(([name]) => name !== 'Connect with JSON'))(
  'the client of this repository, over %s',
  (_name, open) => {
    test('a call that was aborted before it began is not made', async () => {
      let calls = 0;
      const { media } = await opened(open, async () => {
        calls += 1;
        return {};
      });

      expect(await catchRefusal(media.stageMedia({}, { signal: AbortSignal.abort() }))).toMatchObject({
        reason: 'service_unavailable',
      });
      await media.stageMedia({});

      expect(calls).toBe(1);
    });

    test('an incomplete service is an error when the client is built', () => {
      const half = { service: MediaService, methods: {} };

      return expect(
        (async () => openFor(open, half).then((transport) => transport.client(MediaService)))(),
      ).rejects.toThrow(/MediaService has no StageMedia/);
    });
  },
);

describe('a direct call', () => {
  const binding = partialService(MediaService, {
    stageMedia: async (_request, { caller: { name, accounts } }) => ({
      media: { object: `${name} ${String(accounts)}` },
    }),
  });

  test('runs in the name of the part that opened it', async () => {
    expect((await directClient(MediaService, binding, aCaller({ name: 'tasks' })).stageMedia({})).media?.object).toBe(
      'tasks *',
    );
  });

  test('is refused as over the network when that part lacks the scope', async () => {
    const reader = directClient(
      MediaService,
      binding,
      aCaller({ name: 'reader', scopes: new Set([Scope.TASKS_READ]) }),
    );

    expect(await catchRefusal(reader.stageMedia({}))).toMatchObject({ kind: 'forbidden', reason: 'scope_missing' });
  });
});
