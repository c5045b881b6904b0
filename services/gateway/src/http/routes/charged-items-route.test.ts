import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';
import { FILE_ITEMS_MAX, ITEMS_MAX } from './charged-items-route.ts';

const AT = Date.UTC(2025, 11, 31, 12);

let under: GatewayUnderTest;
beforeEach(async () => {
  under = await startGatewayUnderTest();
});
afterEach(() => under.stop());

const read = (query = '', headers: Readonly<Record<string, string>> = {}) =>
  call(under.url, 'GET', `/v1/usage/items${query}`, { headers });

const anItem = (id: string, some: object = {}) => ({
  id,
  settledAt: timestampFromMs(AT),
  tokenId: 'token_1',
  tokenName: 'main',
  basis: Basis.USAGE,
  usage: { key: 'Alpha-H3', amountNanos: 730_000_000n, requests: 1n, seconds: 5n },
  ...some,
});

describe('the charged items of an account', () => {
  test('are pages of JSON, and each names where the next begins', async () => {
    under.usage.items = [
      anItem('task_1', { label: 'spring', parts: { cacheWrite: 30n, reasoning: 5n }, searches: 2n }),
      anItem('task_2', { basis: Basis.ESTIMATE }),
      anItem('task_3'),
    ];

    const first = (await read('?limit=2')).json;
    const second = (await read(`?limit=2&after=${first.next_after}`)).json;

    expect(first).toEqual({
      object: 'list',
      account: 'demo',
      currency: 'USD',
      from: '2025-12-02T00:00:00.000Z',
      to: '2026-01-01T01:00:00.000Z',
      data: [
        {
          id: 'task_1',
          settled_at: '2025-12-31T12:00:00.000Z',
          model: 'Alpha-H3',
          token: 'token_1',
          token_name: 'main',
          label: 'spring',
          basis: 'usage',
          amount: '0.73',
          requests: 1,
          seconds: 5,
          input_tokens: 0,
          cached_input_tokens: 0,
          output_tokens: 0,
          images: 0,
          characters: 0,
          parts: { cache_write_tokens: 30, reasoning_tokens: 5, searches: 2 },
        },
        expect.objectContaining({ id: 'task_2', basis: 'estimate', label: '', parts: {} }),
      ],
      has_more: true,
      next_after: '2',
    });
    expect(second).toMatchObject({ data: [{ id: 'task_3' }], has_more: false, next_after: null });
    expect(under.usage.askedItems.map(({ accountId }) => accountId)).toEqual(['demo', 'demo']);
  });

  test('are one CSV file of the whole period', async () => {
    under.usage.items = Array.from({ length: 2 * ITEMS_MAX + 1 }, (_, at) => anItem(`task_${at}`));
    under.usage.items[0] = anItem('task_0', {
      tokenName: '=HYPERLINK("a")',
      label: '-x',
      parts: { cacheWrite1h: 7n },
      searches: 3n,
    });

    const { headers, text } = await read('?format=csv&limit=1');
    const lines = text.trimEnd().split('\r\n');

    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(headers['content-disposition']).toBe('attachment; filename="reelgate-charges.csv"');
    expect(lines[0]).toBe(
      'settled_at,id,model,token,token_name,basis,amount,currency,requests,seconds,' +
        'input_tokens,cached_input_tokens,output_tokens,images,characters,label,cache_write_tokens,' +
        'cache_write_1h_tokens,audio_input_tokens,cached_audio_tokens,image_input_tokens,cached_image_tokens,' +
        'reasoning_tokens,audio_output_tokens,image_output_tokens,searches',
    );
    expect(lines[1]).toBe(
      '2025-12-31T12:00:00.000Z,task_0,Alpha-H3,token_1,"\'=HYPERLINK(""a"")",usage,0.73,USD,1,5,0,0,0,0,0,\'-x,' +
        '0,7,0,0,0,0,0,0,0,3',
    );
    expect(lines).toHaveLength(2 * ITEMS_MAX + 2);
    expect(under.usage.askedItems).toHaveLength(3);
  });

  test('of a file end now, so that charges which come meanwhile leave it complete', async () => {
    await read('?format=csv&from=2025-12-01&to=2026-12-31');

    expect(timestampMs(under.usage.askedItems[0]!.to!)).toBe(under.clock.now());
  });

  test('are refused as a file if the period has too many', async () => {
    under.usage.requests = BigInt(FILE_ITEMS_MAX + 1);

    const { status, json } = await read('?format=csv');

    expect([status, json.error.param]).toEqual([400, 'to']);
    expect(json.error.message).toContain('at most 100000 charges, and this period has 100001');
    expect(under.usage.askedItems).toEqual([]);
  });

  test.each([
    ['limit', '?limit=0'],
    ['limit', '?limit=1001'],
    ['limit', '?limit=x'],
    ['after', `?after=${'1'.repeat(301)}`],
    ['from', '?from=yesterday'],
    ['format', '?format=xml'],
  ])('are refused for an invalid %s: %s', async (param, query) => {
    const { status, json } = await read(query);

    expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_request', param]);
    expect(under.usage.askedItems).toEqual([]);
  });
});
