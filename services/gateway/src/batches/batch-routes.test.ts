import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { call } from '../../testing/http-call.ts';
import type { Answer } from '../../testing/http-call.ts';
import { formBody } from '../../testing/multipart-form.ts';

const BOUNDARY = 'boundary-of-the-test';
let under: GatewayUnderTest;
let fileId: string;
beforeAll(async () => {
  under = await startGatewayUnderTest({ batches: true });
  const body = formBody(BOUNDARY, [
    { name: 'purpose', content: 'batch' },
    { name: 'file', content: '{}', fileName: 'in.jsonl', type: 'application/jsonl' },
  ]);
  const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
  fileId = (await call(under.url, 'POST', '/v1/files', { body, headers })).json.id as string;
});
afterAll(() => under.stop());

const create = (metadata: object, endpoint = '/v1/videos'): Promise<Answer> =>
  call(under.url, 'POST', '/v1/batches', {
    body: { input_file_id: fileId, endpoint, completion_window: '24h', metadata },
  });

describe('the bound of a batch', () => {
  test.each([
    ...['maxAmount', 'Max_Amount', 'max-amount', 'max_ammount', 'max_amounts', 'maximum_amount', 'max_amount_usd'],
    ...['budget', 'Budget', 'maxPrice', 'max_cost', 'spending_limit', 'max_budget'],
  ])('by another name is refused with the right one: %s', async (name) => {
    for (const metadata of [{ [name]: '0.01' }, { max_amount: '5', [name]: '0.01' }]) {
      const { status, json } = await create(metadata);
      expect([status, json.error.code, json.error.param]).toEqual([400, 'unknown_field', `metadata.${name}`]);
      expect(json.error.message).toContain('send metadata.max_amount');
    }
  });

  test.each(['max_amount', 'maxAmount'])('is not possible for calls: %s', async (name) => {
    const { status, json } = await create({ [name]: '5' }, '/v1/chat/completions');
    expect([status, json.error.param]).toEqual([400, `metadata.${name}`]);
    expect(json.error.message).toContain('/v1/videos alone');
  });

  test.each(['currency', 'Currency'])('has the currency of the account: %s', async (name) => {
    const { status, json } = await create({ max_amount: '5', [name]: 'EUR' });
    expect([status, json.error.param]).toEqual([400, `metadata.${name}`]);
    expect(json.error.message).toContain('must be USD, the currency of the account');
  });

  test.each<object>([
    { max_amount: '5', currency: 'USD' },
    { currency: 'EUR' },
    { title: 'a', user_id: 'u', order: '7', amount: '3', budget_owner: 'x', constructor: 'x', price: '1' },
  ])('is its own name alone, and other words are those of the client: %j', async (metadata) => {
    expect((await create(metadata)).status).toBe(200);
  });
});
