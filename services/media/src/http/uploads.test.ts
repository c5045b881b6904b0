import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { startMediaUnderTest } from '../../testing/media-under-test.ts';
import type { MediaUnderTest } from '../../testing/media-under-test.ts';

const KIB = 1024;
/** How long a reservation without bytes counts. */
const UPLOAD_MS = 600_000;
const LIFETIME_MS = 3_600_000;

let clock: FakeClock;
let under: MediaUnderTest;
let account: string;
let accounts = 0;

beforeAll(async () => {
  clock = fakeClock();
  under = await startMediaUnderTest({
    clock,
    section: {
      inline: { max_bytes: '6KiB', per_account: '8KiB', lifetime: '1h' },
      limits: { image: '4KiB', video: '2KiB', base_video: '5KiB', audio: '16KiB' },
    },
  });
});
afterAll(() => under.close());
beforeEach(() => {
  account = `account-${(accounts += 1)}`;
});

const send = async (method: string, path: string, body?: Uint8Array<ArrayBuffer>) => {
  const answer = await fetch(under.url + path, {
    method,
    headers: { authorization: `Bearer ${under.serviceKey}` },
    body: body ?? null,
  });
  const text = await answer.text();
  return { status: answer.status, json: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
};
const begin = (query: string) => send('POST', `/bytes/uploads?account=${account}&${query}`);
const put = (upload: unknown, bytes: number, of = account) =>
  send('PUT', `/bytes?account=${of}&upload=${String(upload)}`, new Uint8Array(bytes));
const codeOf = ({ status, json }: Awaited<ReturnType<typeof send>>) => [
  status,
  (json['error'] as { readonly code: string } | undefined)?.code,
];

describe('an upload', () => {
  test.each([
    ['kind=image', 4 * KIB],
    // a video can become a base video, whose limit is larger
    ['kind=video', 5 * KIB],
    // no medium has more than inline.max_bytes
    ['kind=audio', 6 * KIB],
    ['kind=image&bytes=100', 100],
    ['kind=image&declared_type=IMAGE/png;x=1', 4 * KIB],
    ['kind=image&declared_type=application/octet-stream', 4 * KIB],
  ])('of %s may have %i bytes', async (query, bytesMax) => {
    expect(await begin(query)).toEqual({ status: 200, json: { upload: expect.any(String), bytes_max: bytesMax } });
  });

  test.each([
    ['kind=image&bytes=4097', 413, 'body_too_large'],
    ['kind=image&declared_type=video/mp4', 400, 'invalid_media'],
    ['kind=image&declared_type=image', 400, 'invalid_media'],
    ['kind=document', 400, 'invalid_request'],
    ['kind=image&bytes=0', 400, 'invalid_request'],
    ['kind=image&bytes=many', 400, 'invalid_request'],
    ['', 400, 'invalid_request'],
  ])('of %j is refused before its first byte', async (query, status, code) => {
    expect(codeOf(await begin(query))).toEqual([status, code]);
  });

  test('becomes an object of its account that expires', async () => {
    const { json } = await begin('kind=image');

    expect(await put(json['upload'], 3 * KIB)).toEqual({
      status: 200,
      json: { object: expect.stringMatching(/^inl_/), bytes: 3 * KIB, expires_at: clock.now() + LIFETIME_MS },
    });
  });

  test('has no more bytes than it reserved', async () => {
    const { json } = await begin('kind=image&bytes=100');

    expect(codeOf(await put(json['upload'], 101))).toEqual([413, 'body_too_large']);
    // the refused bytes are no longer reserved
    expect((await begin('kind=audio')).status).toBe(200);
  });

  test.each<[string, (upload: unknown) => Promise<unknown>]>([
    ['of another account', (upload) => put(upload, 1, 'a-thief')],
    ['that is unknown', () => put('up_unknown', 1)],
    [
      'that was given up',
      async (upload) => {
        await send('DELETE', `/bytes/uploads/${String(upload)}`);
        return put(upload, 1);
      },
    ],
    [
      'that has expired',
      async (upload) => {
        await clock.advance(UPLOAD_MS);
        return put(upload, 1);
      },
    ],
  ])('%s takes no bytes', async (_which, attempt) => {
    const before = under.blobs();
    const { json } = await begin('kind=image');

    expect(codeOf((await attempt(json['upload'])) as never)).toEqual([404, 'not_found']);
    expect(under.blobs()).toEqual(before);
  });

  test('counts against its account from its beginning until it is given up or expires', async () => {
    const first = await begin('kind=audio');
    expect(codeOf(await begin('kind=image'))).toEqual([429, 'rate_limit_exceeded']);
    expect((await send('POST', '/bytes/uploads?account=another&kind=image')).status).toBe(200);

    expect((await send('DELETE', `/bytes/uploads/${String(first.json['upload'])}`)).status).toBe(204);
    expect((await begin('kind=audio')).status).toBe(200);
    expect(codeOf(await begin('kind=image'))).toEqual([429, 'rate_limit_exceeded']);
    await clock.advance(UPLOAD_MS);
    expect((await begin('kind=audio')).status).toBe(200);
  });

  test('counts with the bytes that came once it has ended', async () => {
    const { json } = await begin('kind=audio');
    await put(json['upload'], 3 * KIB);

    expect((await begin('kind=video')).status).toBe(200);
  });

  test('leaves nothing if its source fails, in this process too', async () => {
    const before = under.blobs();
    const { upload, bytesMax } = await under.media.bytes.beginUpload({
      accountId: account,
      family: 'audio',
      declaredType: '',
      bytes: undefined,
    });
    const failing = Readable.from(
      (function* () {
        yield Buffer.alloc(10);
        throw new Error('the uploader is gone');
      })(),
    );

    await expect(under.media.bytes.put(failing, { accountId: account, upload, bytesMax })).rejects.toThrow('gone');

    expect(under.blobs()).toEqual(before);
    expect((await begin('kind=audio')).status).toBe(200);
  });

  test.each(['GET', 'PUT', 'DELETE'])('has no answer to %s of its list', async (method) => {
    expect(codeOf(await send(method, '/bytes/uploads'))).toEqual([404, 'not_found']);
  });
});
