import { describe, expect, test } from '@jest/globals';
import { aCall, aHeader } from '../../../testing/jobs/new-jobs.ts';
import { aSound, aText, anImage, anOrder } from '../../../testing/orders.ts';
import type { JobCall } from '@reelgate/proto/tasks/v1/job';
import type { MediaItem, Order } from '../../domain/order.ts';
import { digestCall, digestOrder } from './idempotency.ts';

const image: MediaItem = { media: 'image', role: 'first_frame', url: 'https://files.example/1' };
const withMedium = (changes: Partial<MediaItem> = {}): Order =>
  anOrder({ content: [aText('a fox'), { ...image, ...changes }] });
const withExtra = (extraJson: string): Order => anOrder({ extraJson });

test('the digest of an order is the same in every release', () => {
  const order: Order = {
    kind: 'generation',
    model: 'Alpha-H3',
    content: [],
    duration: 4,
    resolution: '768P',
    ratio: '16:9',
  };
  const beside = { webhookUrl: undefined, maxAmountNanos: undefined, currency: undefined };

  expect(digestOrder(order, beside)).toBe('order:24Qp-HQdK9VFIeaUKydNezGRwgtFwh9D8nnupuli4zI');
  expect(digestOrder(order, { ...beside, webhookUrl: 'https://hooks.example/a' })).toBe(
    'order:_m8Nn-601bGcDaHxXnOvJHWq3Tr2jONe-9ak2UAUY24',
  );
});

describe('the digest of an order', () => {
  test.each<[string, Order, Order]>([
    ['the kind', anOrder(), anOrder({ kind: 'regeneration' })],
    ['the model', anOrder(), anOrder({ model: 'Alpha-H4' })],
    ['a text', anOrder({ content: [aText('a fox')] }), anOrder({ content: [aText('a box')] })],
    [
      'a text that is one of two',
      anOrder({ content: [aText('a fox'), aText('runs')] }),
      anOrder({ content: [aText('a foxruns')] }),
    ],
    [
      'the position of an item',
      anOrder({ content: [aText('a fox'), aText('runs')] }),
      anOrder({ content: [aText('runs'), aText('a fox')] }),
    ],
    ['the type of media', withMedium(), withMedium({ media: 'video' })],
    ['the role', withMedium(), withMedium({ role: 'last_frame' })],
    ['the address', withMedium(), withMedium({ url: 'https://files.example/2' })],
    ['the object', withMedium({ url: undefined, object: 'obj_1' }), withMedium({ url: undefined, object: 'obj_2' })],
    ['the declared type', withMedium({ declaredType: 'image/png' }), withMedium({ declaredType: 'image/jpeg' })],
    [
      'an address and an object of the same name',
      withMedium({ url: 'x' }),
      withMedium({ url: undefined, object: 'x' }),
    ],
    ['the number of media', withMedium(), anOrder({ content: [...withMedium().content, aSound('reference_audio')] })],
    ['the duration', anOrder({ duration: 5 }), anOrder({ duration: 6 })],
    ['a missing duration', anOrder({ duration: undefined }), anOrder({ duration: 0 })],
    ['the resolution', anOrder({ resolution: '768P' }), anOrder({ resolution: '2K' })],
    ['the ratio', anOrder({ ratio: '16:9' }), anOrder({ ratio: '9:16' })],
    ['the source', anOrder({ sourceTaskId: 'task_1' }), anOrder({ sourceTaskId: 'task_2' })],
    ['the watermark', anOrder({ aigcWatermark: false }), anOrder({ aigcWatermark: undefined })],
    ['the callback', anOrder({ callbackUrl: 'https://a.example' }), anOrder({ callbackUrl: 'https://b.example' })],
    ['the size', anOrder({ size: '1344x768' }), anOrder({ size: '768x1344' })],
    ['an unknown field', withExtra('{"seed":1}'), withExtra('{"seed":2}')],
    ['its kind', withExtra('{"seed":1}'), withExtra('{"seed":"1"}')],
    ['an empty one', withExtra('{"seed":[]}'), withExtra('{"seed":{}}')],
    ['a number beyond 2^53', withExtra('{"seed":9007199254740993}'), withExtra('{"seed":9007199254740992}')],
    ['a number that resembles one of ours', withExtra('{"seed":1}'), withExtra('{"seed":{"number":"1"}}')],
  ])('changes when %s changes', (_what, one, other) => {
    expect(digestOrder(one)).not.toBe(digestOrder(other));
  });

  test.each<[string, Order, Order]>([
    [
      'the order of its keys',
      anOrder({ ratio: '16:9', size: '1x1' }),
      Object.fromEntries(Object.entries(anOrder({ ratio: '16:9', size: '1x1' })).toReversed()) as unknown as Order,
    ],
    ['absent fields', anOrder(), { ...anOrder(), callbackUrl: undefined }],
    [
      'the key order and spacing of unknown fields',
      withExtra('{"seed":1,"style":{"a":[1,2],"b":null}}'),
      withExtra('{ "style": {"b":null, "a":[1,2]},\n"seed":1 }'),
    ],
    ['how a character is written', withExtra('{"style":"\\u00e4"}'), withExtra('{"style":"ä"}')],
  ])('does not depend on %s', (_what, one, other) => {
    expect(digestOrder(one)).toBe(digestOrder(other));
  });

  test('changes with the URL that is told of the end, and is the same as before without one', () => {
    const digests = [undefined, 'https://a.example', 'https://b.example'].map((url) =>
      digestOrder(anOrder(), { webhookUrl: url }),
    );

    expect(new Set(digests).size).toBe(3);
    expect(digests[0]).toBe(digestOrder(anOrder()));
  });

  test('is the same in every version, because a repeat can follow an upgrade', () => {
    expect([digestOrder(anOrder()), digestOrder(anOrder(), { webhookUrl: 'https://a.example' })]).toEqual([
      'order:CgDzezAHjCHTfWtXMOZnyLvdLOuVsBqa0uz6daZ6ZLQ',
      'order:MjQH5zZU0HX3sKFETmL1EceazZ0t8sb3a1bGey2T3og',
    ]);
  });

  test('is computed even when the unknown fields cannot be parsed', () => {
    expect(digestOrder(withExtra('{'))).not.toBe(digestOrder(withExtra('[')));
    expect(digestOrder(withExtra('['.repeat(200_000)))).toMatch(/^order:/);
  });

  test('reveals nothing of the order', () => {
    expect(digestOrder(anOrder({ content: [aText('a fox'), anImage('first_frame')] }))).toMatch(/^order:[\w-]{43}$/);
  });
});

describe('the digest of a call', () => {
  test.each<[string, Partial<JobCall>]>([
    ['endpoint', { endpoint: 'responses' }],
    ['model', { model: 'other' }],
    ['method', { method: 'PUT' }],
    ['path', { path: '/v1/responses' }],
    ['query', { query: 'a=b' }],
    ['header', { headers: [aHeader('content-type', 'text/plain')] }],
    ['headers', { headers: [] }],
    ['body', { body: { case: 'inline', value: new Uint8Array(3) } }],
    ['object', { body: { case: 'object', value: 'prv_1' } }],
  ])('changes with the %s', (_what, changes) => {
    expect(digestCall(aCall(changes), false)).not.toBe(digestCall(aCall(), false));
  });

  test('changes with the URL that is told of the end', () => {
    expect(digestCall(aCall(), false, 'https://a.example')).not.toBe(digestCall(aCall(), false));
  });

  test('changes when the call is repeatable', () => {
    expect(digestCall(aCall(), true)).not.toBe(digestCall(aCall(), false));
  });

  test('ignores the order and case of headers, and keeps the order of their values', () => {
    const withHeaders = (...headers: readonly (readonly [string, string])[]): string =>
      digestCall(aCall({ headers: headers.map((header) => aHeader(...header)) }), false);

    expect(withHeaders(['b', '1'], ['A', '2'])).toBe(withHeaders(['a', '2'], ['b', '1']));
    expect(withHeaders(['a', '1'], ['a', '2'])).not.toBe(withHeaders(['a', '2'], ['a', '1']));
  });
});
