import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { call } from '../../testing/http-call.ts';
import type { Answer } from '../../testing/http-call.ts';
import { formBody } from '../../testing/multipart-form.ts';

const BOUNDARY = 'boundary-of-the-test';
let under: GatewayUnderTest;
beforeEach(async () => {
  under = await startGatewayUnderTest({ batches: true });
});
afterEach(() => under.stop());

const line = (id: string, body: object, url = '/v1/videos'): string =>
  JSON.stringify({ custom_id: id, method: 'POST', url, body: { model: 'Alpha-H3', prompt: 'a boat', ...body } });
async function upload(lines: readonly string[]): Promise<string> {
  const body = formBody(BOUNDARY, [
    { name: 'purpose', content: 'batch' },
    { name: 'file', content: lines.join('\n'), fileName: 'in.jsonl', type: 'application/jsonl' },
  ]);
  const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
  return (await call(under.url, 'POST', '/v1/files', { body, headers })).json.id as string;
}
const estimate = async (lines: readonly string[], more: object = {}): Promise<Answer> =>
  call(under.url, 'POST', '/v1/batches/estimate', {
    body: {
      input_file_id: await upload(lines),
      endpoint: '/v1/videos',
      completion_window: '24h',
      ...more,
    },
  });
const countEstimates = (): number => under.tasks.calls.filter((name) => name === 'estimateOrder').length;

describe('the estimate of a batch', () => {
  test('is the exact sum of its lines; those that differ in words alone are estimated once', async () => {
    const lines = Array.from({ length: 1001 }, (_none, at) => line(`line-${at}`, { prompt: `boat ${at}` }));
    const { status, json } = await estimate([...lines, line('long', { seconds: '6' })]);

    expect([status, json]).toEqual([
      200,
      {
        object: 'batch.estimate',
        endpoint: '/v1/videos',
        model: 'Alpha-H3',
        amount: '400.8',
        max_amount: '400.8',
        currency: 'USD',
        request_counts: { total: 1002, priced: 1002, refused: 0 },
        errors: null,
      },
    ]);
    expect(countEstimates()).toBe(2);
    expect(under.batches.created).toEqual([]);
  });
  test('leaves out lines that would be refused, and says why', async () => {
    const { json } = await estimate([line('good', {}), line('bad', { seconds: 'long' })]);

    expect(json).toMatchObject({ amount: '0.4', request_counts: { total: 2, priced: 1, refused: 1 } });
    expect(json.errors.data).toMatchObject([{ line: 2, param: 'seconds', code: 'invalid_duration' }]);
  });
  test('names the field of a line whose order no generator takes', async () => {
    under.tasks.refuse(
      'estimateOrder',
      new Problem({ kind: 'invalid', reason: 'invalid_duration', field: 'order.duration', message: 'is too long' }),
    );
    const { json } = await estimate([line('one', { seconds: '9' }), line('two', { seconds: '9', prompt: 'x' })]);

    expect(json).toMatchObject({
      amount: '0',
      currency: 'USD',
      request_counts: { total: 2, priced: 0, refused: 2 },
      errors: { data: [{ line: 1, param: 'seconds', message: 'seconds is too long' }] },
    });
  });
  test('fails if prices cannot be asked now', async () => {
    under.tasks.refuse(
      'estimateOrder',
      new Problem({ kind: 'unavailable', reason: 'service_unavailable', message: 'x' }),
    );

    expect((await estimate([line('one', {})])).status).toBe(503);
  });
  test.each([
    ['a file that a batch would refuse', ['{}'], {}, 'input_file_id'],
    ['two models', [line('one', {}), line('two', { model: 'Beta-V1' })], {}, 'input_file_id'],
    ['an empty file', [' '], {}, 'input_file_id'],
    ['calls', [line('one', {}, '/v1/embeddings')], { endpoint: '/v1/embeddings' }, 'endpoint'],
    ['a bound by another name', [line('one', {})], { metadata: { budget: '1' } }, 'metadata.budget'],
    [
      'too many different orders',
      Array.from({ length: 201 }, (_none, at) => line(`line-${at}`, { seconds: String(at + 1) })),
      {},
      'input_file_id',
    ],
  ])('refuses %s', async (_what, lines, more, param) => {
    const { status, json } = await estimate(lines, more);

    expect([status, json.error.param]).toEqual([400, param]);
  });
  test('of a file of another account is refused as one that does not exist', async () => {
    const id = await upload([line('one', {})]);
    under.billing.tokens.set('rg_token-of-other', { accountId: 'other' });
    const { status, json } = await call(under.url, 'POST', '/v1/batches/estimate', {
      body: { input_file_id: id, endpoint: '/v1/videos', completion_window: '24h' },
      token: 'rg_token-of-other',
    });

    expect([status, json.error.code]).toEqual([404, 'file_not_found']);
  });
});
