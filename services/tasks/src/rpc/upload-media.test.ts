import { createHash } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { aGate } from '@reelgate/platform/testing/bounded-waits';
import { partialService, silenceRpcLibraries } from '@reelgate/platform/testing/partial-service';
import { readFields, catchRefusal } from '@reelgate/platform/testing/refusals';
import { TRANSPORTS, closingTransports } from '@reelgate/platform/testing/rpc-transports';
import { until } from '@reelgate/platform/testing/until';
import type { Client } from '@reelgate/platform/rpc/service';
import { MediaKind } from '@reelgate/proto/tasks/v1/order';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import type { UploadMediaRequestSchema } from '@reelgate/proto/tasks/v1/task_service';
import { UPLOAD_BYTES_MAX, UPLOAD_LIFETIME_MS, contentWorld } from '../../testing/content/content-world.ts';
import { useWorlds } from '../../testing/open-world.ts';
import { contentMethods } from './content-methods.ts';

const IDLE_MS = 30_000;
const BYTES = Buffer.from('the bytes of a picture');
const SHA256 = createHash('sha256').update(BYTES).digest('hex');
const openWorld = useWorlds();
const openFor = closingTransports();

silenceRpcLibraries();

type Message = Exclude<MessageInitShape<typeof UploadMediaRequestSchema>, { readonly $typeName: string }>;

const header = (over: object = {}, data = new Uint8Array()) => ({
  header: { accountId: 'acme', kind: MediaKind.IMAGE, declaredType: 'image/png', ...over },
  data,
});
const data = (bytes: Uint8Array) => ({ data: bytes });

async function* sent(...messages: readonly Message[]): AsyncGenerator<Message> {
  yield* messages;
}

describe.each(TRANSPORTS)('UploadMedia over %s', (_name, open) => {
  async function aService() {
    const world = await openWorld();
    const content = contentWorld(world);
    const opened = await openFor(open, partialService(TaskService, contentMethods(content.deps)));
    const client: Client<typeof TaskService> = opened.client(TaskService);
    return { world, client, kept: content.kept, logged: opened.logged };
  }

  test.each<[string, readonly Message[]]>([
    ['after its header', [header(), data(BYTES)]],
    ['with its header', [header({}, BYTES)]],
    [
      'in pieces, some of them empty',
      [header(), data(BYTES.subarray(0, 3)), data(Buffer.alloc(0)), data(BYTES.subarray(3))],
    ],
    ['as its header says', [header({ bytes: BigInt(BYTES.byteLength), sha256: SHA256 }), data(BYTES)]],
    ['without a declared type', [header({ declaredType: '' }), data(BYTES)]],
  ])('stores what comes %s', async (_how, messages) => {
    const { world, client, kept } = await aService();

    const { object, bytes, expiresAt } = await client.uploadMedia(sent(...messages));

    expect(kept.objects.get(object)).toEqual(BYTES);
    expect([bytes, timestampMs(expiresAt!)]).toEqual([
      BigInt(BYTES.byteLength),
      world.clock.now() + UPLOAD_LIFETIME_MS,
    ]);
    expect(kept.begun).toEqual([expect.objectContaining({ accountId: 'acme', kind: 'image' })]);
    expect(kept.reserved.size).toBe(0);
  });

  test.each<[string, readonly Message[], object]>([
    ['bytes before a header', [data(BYTES)], { field: expect.stringMatching(/^header/) }],
    ['no kind', [header({ kind: 0 }), data(BYTES)], { field: 'header.kind' }],
    [
      'a second header',
      [header(), data(BYTES), header()],
      { field: 'header', message: 'must be in the first message only' },
    ],
    ['no bytes', [header()], { field: 'data' }],
    [
      'too few bytes',
      [header({ bytes: 100n }), data(BYTES)],
      { field: 'header.bytes', message: 'is 100, but only 22 bytes came' },
    ],
    [
      'too many bytes',
      [header({ bytes: 21n }), data(BYTES)],
      { field: 'header.bytes', message: 'is 21, but more bytes came' },
    ],
    ['zero bytes', [header({ bytes: 0n }), data(BYTES)], { field: 'header.bytes' }],
    [
      'other bytes',
      [header({ sha256: '0'.repeat(64) }), data(BYTES)],
      { field: 'header.sha256', message: expect.stringContaining(SHA256) },
    ],
    ['a digest that is none', [header({ sha256: 'abc' }), data(BYTES)], { field: 'header.sha256' }],
    [
      'more bytes than the kind may have',
      [header(), ...Array.from({ length: 5 }, () => data(Buffer.alloc(UPLOAD_BYTES_MAX / 4)))],
      { field: 'data', reason: 'body_too_large', message: expect.stringMatching(/^must be at most .* MiB in all/) },
    ],
    [
      'a type that media refuses',
      [header({ declaredType: 'text/html' }), data(BYTES)],
      { field: 'header.declared_type', reason: 'invalid_media' },
    ],
  ])('refuses %s by the field, and keeps nothing', async (_what, messages, fields) => {
    const { client, kept, logged } = await aService();

    const refusal = await catchRefusal(client.uploadMedia(sent(...messages)));

    expect(readFields(refusal)).toMatchObject({ kind: 'invalid', ...fields });
    expect([kept.objects.size, kept.reserved.size]).toEqual([0, 0]);
    expect(logged).toEqual([]);
  });

  test('keeps nothing of an upload that is cancelled', async () => {
    const { client, kept } = await aService();
    const caller = new AbortController();
    const { opened: ended, open: end } = aGate();

    const upload = client.uploadMedia(
      (async function* () {
        yield header();
        yield data(BYTES);
        await until(() => kept.reserved.size === 1);
        caller.abort();
        await ended;
      })(),
      { signal: caller.signal },
    );

    await catchRefusal(upload);
    await until(() => kept.reserved.size === 0);
    end();
    expect([kept.begun.length, kept.objects.size]).toEqual([1, 0]);
  });

  test('refuses an upload whose next piece does not come, and keeps nothing', async () => {
    const { world, client, kept } = await aService();
    const { opened: ended, open: end } = aGate();

    const refusal = catchRefusal(
      client.uploadMedia(
        (async function* () {
          yield header();
          yield data(BYTES);
          await until(() => kept.reserved.size === 1);
          await world.clock.advance(IDLE_MS);
          await ended;
        })(),
      ),
    );

    expect(readFields(await refusal)).toMatchObject({
      kind: 'unavailable',
      reason: 'upload_too_slow',
      retryAfterMs: 1000,
    });
    end();
    await until(() => kept.reserved.size === 0);
    expect(kept.objects.size).toBe(0);
  });

  test('refuses more uploads of an account at one time than it may have', async () => {
    const { client, kept } = await aService();
    const { opened: ended, open: end } = aGate();
    const slow = () =>
      client.uploadMedia(
        (async function* () {
          yield header();
          yield data(BYTES);
          await ended;
        })(),
      );
    const running = [slow(), slow()];
    await until(() => kept.reserved.size === 2);

    expect(readFields(await catchRefusal(client.uploadMedia(sent(header(), data(BYTES)))))).toMatchObject({
      kind: 'exhausted',
      reason: 'too_many_streams',
    });
    end();
    await Promise.all(running);
    expect(await client.uploadMedia(sent(header(), data(BYTES)))).toMatchObject({ bytes: BigInt(BYTES.byteLength) });
  });
});
