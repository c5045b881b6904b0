import { expect, test } from '@jest/globals';
import { silentLog } from '@reelgate/platform/log';
import { Problem } from '@reelgate/platform/problem';
import { QueueMode } from '@reelgate/proto/tasks/v1/queue';
import { fakeMedia, fakeTasks } from '../../testing/fake-services.ts';
import type { WaitPreference } from '../clients/tasks-client.ts';
import { decodeCreate } from '../dialects/openai/decode.ts';
import type { DecodedOrder } from '../dialects/dialect.ts';
import { submitOrder } from './submit-order.ts';

const principal = {
  accountId: 'demo',
  tokenId: 'token-1',
  models: ['*'],
  expiresAt: undefined,
  webhooks: 'write',
  tokenName: 'ci',
  tokens: 'none',
} as const;
const decode = (over: object = {}): DecodedOrder =>
  decodeCreate(
    { json: { model: 'Alpha-H3', prompt: 'a boat', seconds: '5', ...over } },
    { models: new Map(), params: {} },
  );
const item = (bytes: string, type = 'image/png') => ({
  type: 'image_url',
  role: 'reference_image',
  image_url: { url: `data:${type};base64,${bytes}` },
});
const withTwoImages = () => decode({ content: [item('AAAA'), item('AAEC')] });

function fixture() {
  const [tasks, media] = [fakeTasks(), fakeMedia()];
  let submitted = false;
  const create = (
    decoded: DecodedOrder,
    idempotency?: { readonly key: string; readonly fingerprint: string },
    wait?: WaitPreference,
  ) =>
    submitOrder(
      { tasks: tasks.client, media: media.port, log: silentLog },
      {
        principal,
        decoded,
        requestId: 'req_1',
        idempotency,
        wait,
        annotations: {},
        onSubmit: () => {
          submitted = true;
        },
      },
    );
  return { tasks, media, create, submitted: () => submitted };
}

test('an order without bytes is one call', async () => {
  const { tasks, create } = fixture();
  await create(decode());

  expect(tasks.calls).toEqual(['createTask']);
  expect(tasks.creates[0]).toMatchObject({
    accountId: 'demo',
    tokenId: 'token-1',
    idempotencyKey: '',
    requestFingerprint: '',
  });
});

test('bytes are stored for a checked order, which then refers to them as objects', async () => {
  const { tasks, media, create } = fixture();
  await create(withTwoImages());

  expect(tasks.calls).toEqual(['checkOrder', 'createTask']);
  expect(media.puts).toEqual([
    { accountId: 'demo', bytes: Buffer.from([0, 0, 0]) },
    { accountId: 'demo', bytes: Buffer.from([0, 1, 2]) },
  ]);
  expect(
    tasks.creates[0]?.order?.content.map(({ item: content }) =>
      content.case === 'media' ? [content.value.object, content.value.url, content.value.declaredType] : content.value,
    ),
  ).toEqual(['a boat', ['obj_1', '', 'image/png'], ['obj_2', '', 'image/png']]);
  expect(JSON.stringify(tasks.checked[0]?.content)).not.toContain('AAEC');
});

test('the check and the create of an order with bytes have the same preference', async () => {
  const { tasks, create } = fixture();
  await create(withTwoImages(), undefined, { mode: 'none' });

  expect([tasks.checks[0]?.queue, tasks.creates[0]?.queue]).toMatchObject([
    { mode: QueueMode.NONE },
    { mode: QueueMode.NONE },
  ]);
});

test('a refusal of a preference names it as the client wrote it', async () => {
  const { tasks, create } = fixture();
  tasks.refuse(
    'createTask',
    new Problem({ kind: 'invalid', reason: 'invalid_request', field: 'not_before', message: 'is too late' }),
  );

  await expect(create(decode(), undefined, { notBefore: 1 })).rejects.toMatchObject({ field: 'Prefer: not-before' });
});

test('bytes are not stored for an invalid order', async () => {
  const { tasks, media, create, submitted } = fixture();
  tasks.refuse(
    'checkOrder',
    new Problem({ kind: 'invalid', reason: 'invalid_duration', field: 'duration', message: 'is wrong' }),
  );

  await expect(create(withTwoImages())).rejects.toMatchObject({ reason: 'invalid_duration', field: 'seconds' });
  expect(tasks.calls).toEqual(['checkOrder']);
  expect(media.puts).toEqual([]);
  expect(submitted()).toBe(false);
});

test('broken base64 is refused with the name of its field, and no order is sent', async () => {
  const { tasks, create, submitted } = fixture();

  await expect(create(decode({ content: [item('AAAA'), item('!!!!')] }))).rejects.toMatchObject({
    reason: 'invalid_media',
    field: 'content[1].image_url.url',
  });
  expect(tasks.calls).toEqual(['checkOrder']);
  expect(submitted()).toBe(false);
});

test('a refusal of media names the field as the client wrote it', async () => {
  const { create, media } = fixture();
  media.port.put = async () => {
    throw new Problem({ kind: 'invalid', reason: 'invalid_media', message: 'is too large' });
  };

  await expect(create(withTwoImages())).rejects.toMatchObject({
    reason: 'invalid_media',
    field: 'content[0].image_url.url',
  });
});

test.each([
  ['content[0].text', 'prompt'],
  ['order.content[0].text', 'prompt'],
  ['order.content', 'content'],
  ['order.duration', 'seconds'],
])('a refusal of the field %s of the order names it as the client wrote it: %s', async (named, field) => {
  const { tasks, create } = fixture();
  tasks.refuse(
    'createTask',
    new Problem({ kind: 'invalid', reason: 'invalid_content', field: named, message: 'is too long' }),
  );

  await expect(create(decode())).rejects.toMatchObject({ field, message: 'is too long' });
});

test('a refusal without a field, and a fault, stay unchanged', async () => {
  const { tasks, create, submitted } = fixture();
  const refusal = new Problem({ kind: 'exhausted', reason: 'insufficient_quota', message: 'no money' });
  tasks.refuse('createTask', refusal);
  await expect(create(decode())).rejects.toBe(refusal);
  tasks.refuse('createTask', new TypeError('a fault'));
  await expect(create(decode())).rejects.toMatchObject({ kind: 'internal', field: undefined });

  expect(submitted()).toBe(true);
});

const problem = (kind: Problem['kind'], reason: string) => new Problem({ kind, reason, message: 'no' });

test('the order is checked, exactly as the create will send it, before its bytes are stored', async () => {
  const { tasks, create, media } = fixture();
  tasks.refuse('checkOrder', problem('exhausted', 'insufficient_quota'));

  await expect(create(withTwoImages(), { key: 'k', fingerprint: 'f' })).rejects.toMatchObject({
    reason: 'insufficient_quota',
  });
  expect(tasks.checks).toMatchObject([
    {
      accountId: 'demo',
      tokenId: 'token-1',
      idempotencyKey: 'k',
      requestFingerprint: 'f',
    },
  ]);
  expect([tasks.calls, media.puts]).toEqual([['checkOrder'], []]);
});

test('a replay stores nothing and returns the first task', async () => {
  const { tasks, create, media } = fixture();
  const idempotency = { key: 'k', fingerprint: 'f' };
  const first = await create(withTwoImages(), idempotency);
  const second = await create(withTwoImages(), idempotency);

  expect([second.task.id, second.replayed, first.replayed]).toEqual([first.task.id, true, false]);
  expect([tasks.calls, media.puts.length]).toEqual([['checkOrder', 'createTask', 'checkOrder'], 2]);
});

test.each<[string, Error | undefined, readonly string[]]>([
  ['was accepted', undefined, ['obj_1', 'obj_2']],
  ['was refused', problem('invalid', 'invalid_media'), ['obj_1', 'obj_2']],
  ['found no channel', problem('unavailable', 'no_channel_available'), ['obj_1', 'obj_2']],
  ['found media busy', problem('unavailable', 'media_busy'), ['obj_1', 'obj_2']],
  ['got no answer', problem('unavailable', 'service_unavailable'), []],
  ['hit a fault', new TypeError('a fault'), []],
])('the bytes of a create that %s are removed as soon as nothing needs them', async (_what, fault, removed) => {
  const { tasks, create, media } = fixture();
  if (fault !== undefined) tasks.refuse('createTask', fault);

  await create(withTwoImages()).catch(() => undefined);
  expect(media.removed).toEqual(removed);
});

test('if the second bytes cannot be stored, the first are removed; a failed removal changes no answer', async () => {
  const { create, media } = fixture();
  await expect(create(decode({ content: [item('AAAA'), item('!!!!')] }))).rejects.toMatchObject({
    reason: 'invalid_media',
  });
  expect(media.removed).toEqual(['obj_1']);

  media.port.remove = async () => Promise.reject(new Error('media is away'));
  await expect(create(withTwoImages())).resolves.toMatchObject({ replayed: false });
});
