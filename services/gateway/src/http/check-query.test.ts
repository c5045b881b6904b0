import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { call } from '../../testing/http-call.ts';

let under: GatewayUnderTest;
beforeAll(async () => {
  under = await startGatewayUnderTest();
});
afterAll(async () => {
  await under.stop();
});

const BODY = JSON.stringify({ model: 'Alpha-H3', prompt: 'a boat' });

describe('a parameter that a route does not read is refused by its name', () => {
  test.each<[string, string, string]>([
    ['POST', '/v1/videos?seconds=15', 'seconds'],
    ['POST', '/v1/videos?max_amount=0.1', 'max_amount'],
    ['POST', '/v1/video/generations?n=2', 'n'],
    ['POST', '/v1/videos/task_1/remix?resolution=768P', 'resolution'],
    ['POST', '/v1/videos/estimate?path=/v1/videos&seconds=15', 'seconds'],
    ['GET', '/v1/videos?status=queued', 'status'],
    ['GET', '/v1/videos?limit=2&Limit=1', 'Limit'],
    ['GET', '/v1/usage?timezone=Asia%2FTokyo', 'timezone'],
    ['GET', '/v1/usage?groupBy=model', 'groupBy'],
    ['GET', '/v1/usage/items?start=2026-01-01', 'start'],
  ])('%s %s', async (method, target, name) => {
    const before = under.tasks.calls.length;
    const { status, json } = await call(under.url, method, target, method === 'POST' ? { body: BODY } : {});

    expect([status, json.error.code, json.error.param]).toEqual([400, 'unknown_field', name]);
    expect(under.tasks.calls).toHaveLength(before);
  });
  test('in the envelope of the vendor too', async () => {
    const { status, json } = await call(under.url, 'GET', '/v2/query/video_generation?filter.state=x');

    expect([status, json.type]).toEqual([400, 'error']);
    expect(json.error.message).toContain('filter.state is an unknown parameter');
  });
});

test.each(['/v1/models?limit=5', '/v1/videos?limit=2', '/v1/usage?group_by=model'])(
  'a read without such a parameter is answered: %s',
  async (target) => {
    expect((await call(under.url, 'GET', target)).json.error?.code).not.toBe('unknown_field');
  },
);
