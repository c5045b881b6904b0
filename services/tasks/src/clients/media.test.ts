import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import type { CallOptions, Client } from '@reelgate/platform/rpc/service';
import { Category, IngestResultResponseSchema, StageMediaResponseSchema } from '@reelgate/proto/media/v1/media_service';
import type { MediaService } from '@reelgate/proto/media/v1/media_service';
import { Secret } from '@reelgate/platform/secret';
import { mediaClient } from './media.ts';
import type { MediaCategory } from './media.ts';

const DEADLINE_MS = 30_000;
const EXPIRES_AT = 1_785_125_529_000;

/** Media behind the RPC client. It returns the answers of the test. */
function over(answers: Readonly<Record<string, unknown>> = {}) {
  const asked: [method: string, request: unknown, options: CallOptions | undefined][] = [];
  const rpc = new Proxy(
    {},
    {
      get: (_target, method: string) => async (request: unknown, options?: CallOptions) => {
        asked.push([method, request, options]);
        return answers[method] ?? {};
      },
    },
  ) as Client<typeof MediaService>;
  return { asked, media: mediaClient(rpc) };
}

const stageMedia = create(StageMediaResponseSchema, {
  media: { object: 'obj_1', mediaType: 'video/mp4', durationMs: 4000n },
});
const ingestResult = create(IngestResultResponseSchema, {
  result: {
    object: 'res_1',
    bytes: 3_000_000_000n,
    mediaType: 'video/mp4',
    width: 1344,
    height: 768,
    durationMs: 5167n,
    frameRate: 24,
    expiresAt: timestampFromMs(EXPIRES_AT),
  },
});

describe('stage', () => {
  test.each<[MediaCategory, Category]>([
    ['image', Category.IMAGE],
    ['video', Category.VIDEO],
    ['audio', Category.AUDIO],
    ['base_video', Category.BASE_VIDEO],
  ])('requests %s, and returns the frozen media', async (category, wanted) => {
    const { asked, media } = over({ stageMedia });

    expect(
      await media.stage({ accountId: 'acme', taskId: 'task_1', category, url: 'https://files.example/a' }),
    ).toEqual({ object: 'obj_1', mediaType: 'video/mp4', durationMs: 4000 });
    expect(asked[0]?.slice(0, 2)).toEqual([
      'stageMedia',
      {
        accountId: 'acme',
        taskId: 'task_1',
        category: wanted,
        url: 'https://files.example/a',
        object: '',
        declaredType: '',
      },
    ]);
  });

  test('may take longer than other calls, and ends with its caller', async () => {
    const { asked, media } = over({ stageMedia });
    const { signal } = new AbortController();

    await media.stage(
      { accountId: 'acme', taskId: 'task_1', category: 'image', object: 'obj_0', declaredType: 'image/png' },
      { signal },
    );

    expect(asked[0]?.[2]?.signal).toBe(signal);
    expect(asked[0]?.[2]?.timeoutMs).toBeGreaterThan(DEADLINE_MS);
  });

  test('rejects an answer without media', async () => {
    await expect(over().media.stage({ accountId: 'acme', taskId: 'task_1', category: 'image' })).rejects.toThrow(
      'holds no staged media',
    );
  });
});

describe('ingest', () => {
  test('returns the kept result and its expiry', async () => {
    const { asked, media } = over({ ingestResult });
    const wanted = { accountId: 'acme', taskId: 'task_1', url: 'https://cdn.example/1' };

    expect(await media.ingest(wanted)).toEqual({
      result: {
        object: 'res_1',
        bytes: 3_000_000_000,
        mediaType: 'video/mp4',
        width: 1344,
        height: 768,
        durationMs: 5167,
        frameRate: 24,
      },
      expiresAt: EXPIRES_AT,
    });
    expect(asked[0]?.slice(0, 2)).toEqual([
      'ingestResult',
      { ...wanted, authorization: '', authorizationHeader: '', base64At: '', lastFrameUrl: '' },
    ]);
    expect(asked[0]?.[2]?.timeoutMs).toBeGreaterThan(DEADLINE_MS);
  });

  test('passes on the credential of a URL that needs one', async () => {
    const { asked, media } = over({ ingestResult });
    await media.ingest({
      accountId: 'acme',
      taskId: 'task_1',
      url: 'https://cdn.example/1',
      credential: { header: 'x-key', value: new Secret('upstream-key') },
    });

    expect(asked[0]?.[1]).toMatchObject({ authorization: 'upstream-key', authorizationHeader: 'x-key' });
  });

  test.each([
    ['nothing', {}],
    ['a result without an expiry', create(IngestResultResponseSchema, { result: { object: 'res_1' } })],
  ])('rejects %s', async (_what, answer) => {
    await expect(
      over({ ingestResult: answer }).media.ingest({
        accountId: 'acme',
        taskId: 'task_1',
        url: 'https://cdn.example/1',
      }),
    ).rejects.toThrow('holds no result');
  });
});

test('remove names the task', async () => {
  const { asked, media } = over();

  await media.remove('task_1');

  expect(asked).toEqual([['removeResult', { taskId: 'task_1' }, undefined]]);
});
