import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Problem } from '@reelgate/platform/problem';
import { UsageGroup } from '@reelgate/proto/billing/v1/usage_service';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';

let under: GatewayUnderTest;
beforeEach(async () => {
  under = await startGatewayUnderTest();
});
afterEach(() => under.stop());

const SUM = {
  amount: '0.73',
  requests: 2,
  seconds: 11,
  input_tokens: 1500,
  cached_input_tokens: 400,
  output_tokens: 100,
  images: 2,
  characters: 0,
  parts: {},
};
const read = (query = '', headers: Readonly<Record<string, string>> = {}) =>
  call(under.url, 'GET', `/v1/usage${query}`, { headers });
const asked = () =>
  under.usage.asked.map(({ accountId, from, to, groupBy }) => ({
    accountId,
    from: new Date(timestampMs(from!)).toISOString(),
    to: new Date(timestampMs(to!)).toISOString(),
    groupBy,
  }));

describe('the usage of an account', () => {
  test('is JSON, by day and for the last thirty days, by default', async () => {
    const { status, headers, json } = await read();

    expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    expect(asked()).toEqual([
      { accountId: 'demo', from: '2025-12-02T00:00:00.000Z', to: '2026-01-01T01:00:00.000Z', groupBy: UsageGroup.DAY },
    ]);
    expect(json).toEqual({
      object: 'usage',
      account: 'demo',
      currency: 'USD',
      from: '2025-12-02T00:00:00.000Z',
      to: '2026-01-01T01:00:00.000Z',
      group_by: 'day',
      data: [
        {
          day: '2026-01-01',
          ...SUM,
        },
      ],
      total: {
        ...SUM,
      },
      has_more: false,
    });
  });

  test.each([
    [
      'days, including the last one',
      '?from=2026-11-01&to=2026-11-30',
      '2026-11-01T00:00:00.000Z',
      '2026-12-01T00:00:00.000Z',
    ],
    [
      'moments',
      '?from=2026-11-01T10:00:00Z&to=2026-11-01T12:00:00%2B01:00',
      '2026-11-01T10:00:00.000Z',
      '2026-11-01T11:00:00.000Z',
    ],
    ['unix seconds', '?from=1767225600&to=1767229200', '2026-01-01T00:00:00.000Z', '2026-01-01T01:00:00.000Z'],
    ['an end without a start', '?to=2026-01-31', '2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z'],
  ])('is read for %s', async (_what, query, from, to) => {
    await read(query);

    expect(asked()).toMatchObject([{ from, to }]);
  });

  test.each([
    ['model', UsageGroup.MODEL],
    ['day', UsageGroup.DAY],
    ['token', UsageGroup.TOKEN],
    ['label', UsageGroup.LABEL],
  ] as const)('is grouped by %s', async (word, groupBy) => {
    const { json } = await read(`?group_by=${word}`);

    expect(asked()).toMatchObject([{ groupBy }]);
    expect(json.data[0]).toHaveProperty(word);
  });

  test.each([
    ['model', UsageGroup.MODEL, { model: 'Alpha-H3' }, 'day,model,amount'],
    ['token', UsageGroup.TOKEN, { token: 'Alpha-H3', name: 'ci' }, 'day,token,name,amount'],
    ['label', UsageGroup.LABEL, { label: 'Alpha-H3' }, 'day,label,amount'],
  ] as const)('has the days split by %s', async (word, splitBy, label, head) => {
    under.usage.groups = [{ key: '2026-01-01', splitKey: 'Alpha-H3', splitName: 'ci', amountNanos: 730_000_000n }];

    const { json } = await read(`?split_by=${word}`);
    const { text } = await read(`?split_by=${word}&format=csv`);

    expect(under.usage.asked).toMatchObject([{ splitBy }, { splitBy }]);
    expect(json).toMatchObject({ split_by: word, data: [{ day: '2026-01-01', ...label, amount: '0.73' }] });
    expect(text.split('\r\n').slice(0, 2)).toEqual([
      expect.stringContaining(`${head},`),
      expect.stringContaining(`2026-01-01,${Object.values(label).join(',')},0.73,`),
    ]);
  });

  test.each([
    ['the query', '?group_by=token&format=csv', {}],
    ['the header', '?group_by=token', { accept: 'text/csv' }],
  ])('is CSV if %s requests it', async (_what, query, headers) => {
    under.usage.name = '=SUM("a",1)';

    const { headers: answered, text } = await read(query, headers);

    expect(answered['content-type']).toBe('text/csv; charset=utf-8');
    expect(text).toBe(
      'token,name,amount,currency,requests,seconds,' +
        'input_tokens,cached_input_tokens,output_tokens,images,characters,cache_write_tokens,' +
        'cache_write_1h_tokens,audio_input_tokens,cached_audio_tokens,image_input_tokens,cached_image_tokens,' +
        'reasoning_tokens,audio_output_tokens,image_output_tokens,searches\r\n' +
        '2026-01-01,"\'=SUM(""a"",1)",0.73,USD,2,11,1500,400,100,2,0,0,0,0,0,0,0,0,0,0,0\r\n',
    );
  });

  test('sums the parts of tokens and the searches by group, and in the total', async () => {
    const sum = { parts: { cacheWrite: 30n, cacheWrite1h: 10n, reasoning: 5n }, searches: 2n };
    under.usage.groups = [{ key: 'claude', ...sum }];

    const { json } = await read('?group_by=model');
    const { text } = await read('?group_by=model&format=csv');

    const parts = { cache_write_tokens: 30, cache_write_1h_tokens: 10, reasoning_tokens: 5, searches: 2 };
    expect(json).toMatchObject({ data: [{ model: 'claude', parts }], total: { parts: {} } });
    expect(text.split('\r\n')[1]).toBe('claude,0,USD,0,0,0,0,0,0,0,30,10,0,0,0,0,5,0,0,2');
  });

  test.each(['*/*', 'application/json', 'application/json, text/csv;q=0.5'])(
    'is JSON for a client that accepts %s',
    async (accept) => {
      expect((await read('', { accept })).json.object).toBe('usage');
    },
  );

  test.each([
    ['from', '?from=yesterday'],
    ['to', '?to=2026-02-30'],
    ['group_by', '?group_by=week'],
    ['split_by', '?split_by=day'],
    ['format', '?format=xml'],
  ])('is refused for an invalid %s', async (param, query) => {
    const { status, json } = await read(query);

    expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_request', param]);
    expect(under.usage.asked).toEqual([]);
  });

  test('has the refusal of billing', async () => {
    under.usage.refusal = new Problem({
      kind: 'invalid',
      reason: 'invalid_request',
      field: 'to',
      message: 'must be at most 366 days after from',
    });

    expect((await read('?from=2020-01-01&to=2026-01-01')).json.error).toMatchObject({
      code: 'invalid_request',
      param: 'to',
      message: 'to must be at most 366 days after from',
    });
  });

  test('requires a token', async () => {
    expect((await call(under.url, 'GET', '/v1/usage', { token: null })).status).toBe(401);
    expect(under.usage.asked).toEqual([]);
  });
});
