import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import OpenAI from 'openai';
import { startKeepingUpstream } from '../../services/gateway/testing/keeping-upstream.ts';
import type { KeepingUpstream } from '../../services/gateway/testing/keeping-upstream.ts';
import { httpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { KEYS } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';

const TIMEOUT_MS = 120_000;
const CHAINS = 20;
const OTHER = 'sk-other-0123456789abcdef';

let upstreams: readonly KeepingUpstream[];
let program: Program;

/** Two channels of equal rank with a key each, so each is an account of its own at the upstream. */
const withChannels = (config: TestConfig): TestConfig => ({
  ...config,
  channels: [
    ...config.channels,
    ...upstreams.map(({ url }, at) => ({
      id: `kept-${at}`,
      adapter: 'relay',
      base_url: `${url}/v1`,
      api_key: `key-of-account-${at}`,
      endpoints: ['responses'],
      models: { r: 'r' },
      limits: { requests_per_minute: 100_000, in_flight: 1000 },
    })),
  ] as unknown as TestConfig['channels'],
  prices: {
    ...config.prices,
    r: { per_million_tokens: { input: '1', output: '1' }, hold: '0.01' },
  } as TestConfig['prices'],
  accounts: [
    ...config.accounts,
    { id: 'another', credit: '10.00', tokens: [{ key: OTHER, models: ['*'] }] },
  ] as TestConfig['accounts'],
});

beforeAll(async () => {
  upstreams = [await startKeepingUpstream(), await startKeepingUpstream()];
  program = await newProgram('one program', { upstream: new URL(upstreams[0]!.url).host }, withChannels);
  await program.start();
}, TIMEOUT_MS);
afterAll(async () => {
  await program?.end();
  for (const upstream of upstreams) await upstream.stop();
}, TIMEOUT_MS);

const openClient = (apiKey: string = KEYS.demo): OpenAI =>
  new OpenAI({ apiKey, baseURL: `${program.base}/v1`, maxRetries: 0 });
const order = { model: 'r', input: 'x' } as const;

describe("a chain of OpenAI's client over two accounts of an upstream", () => {
  test(
    'goes on where it began',
    async () => {
      const client = openClient();
      const next = async (id: string): Promise<string> =>
        (await client.responses.create({ ...order, previous_response_id: id })).id;
      const chains = Array.from({ length: CHAINS }, async () =>
        next(await next((await client.responses.create(order)).id)),
      );

      expect(await Promise.all(chains)).toHaveLength(CHAINS);
      expect(upstreams.map(({ seen }) => seen.length > 0)).toEqual([true, true]);
    },
    TIMEOUT_MS,
  );

  test(
    'goes on as a stream, and its helper knows the items of each event',
    async () => {
      const client = openClient();
      const run = async (more: object): Promise<OpenAI.Responses.Response> => {
        const stream = client.responses.stream({ ...order, ...more });
        const ids = new Set<string>();
        for await (const event of stream) if ('response' in event) ids.add(event.response.id);
        const final = await stream.finalResponse();
        expect([...ids]).toEqual([final.id]);
        expect(final.output_text).toBe('made');
        return final;
      };
      const chains = Array.from({ length: CHAINS }, async () => run({ previous_response_id: (await run({})).id }));

      expect(await Promise.all(chains)).toHaveLength(CHAINS);
    },
    TIMEOUT_MS,
  );

  test(
    'goes on with the items that it sends again, also with encrypted content alone',
    async () => {
      const client = openClient();
      const chains = Array.from({ length: CHAINS }, async () => {
        const { output } = await client.responses.create({ ...order, store: false });
        const input = [...(output as OpenAI.Responses.ResponseInputItem[]), { role: 'user', content: 'y' } as const];
        return client.responses.create({ ...order, input, store: false });
      });

      expect(await Promise.all(chains)).toHaveLength(CHAINS);
    },
    TIMEOUT_MS,
  );

  test(
    'goes on behind /async, and after a restart',
    async () => {
      const caller = httpCaller(program.base, KEYS.demo);
      const runAsync = async (
        more: object,
      ): Promise<{ readonly status_code: number; readonly result: { readonly id: string } }> => {
        const { json, status } = await caller.call('POST', '/async/v1/responses', { ...order, ...more });
        expect([status, json]).toEqual([202, expect.anything()]);
        const read = () => caller.call('GET', `/get-async?id=${(json as { id: string }).id}`);
        await until(async () => (await read()).json.status === 'completed', TIMEOUT_MS);
        return (await read()).json as never;
      };
      const first = await Promise.all(Array.from({ length: 6 }, () => runAsync({})));
      await program.stop();
      await program.start();
      const second = await Promise.all(first.map(({ result }) => runAsync({ previous_response_id: result.id })));

      expect(second.map(({ status_code: status }) => status)).toEqual(first.map(() => 200));
    },
    TIMEOUT_MS,
  );

  test(
    'is unknown to another account, and the work in the background is refused',
    async () => {
      const { id } = await openClient().responses.create(order);
      const calls = (): number => upstreams.reduce((sum, { seen }) => sum + seen.length, 0);
      const before = calls();
      const unknown = { status: 400, code: 'previous_response_not_found', param: 'previous_response_id' };

      await expect(openClient(OTHER).responses.create({ ...order, previous_response_id: id })).rejects.toMatchObject(
        unknown,
      );
      await expect(openClient().responses.create({ ...order, previous_response_id: 'resp_1' })).rejects.toMatchObject(
        unknown,
      );
      await expect(openClient().responses.create({ ...order, background: true })).rejects.toMatchObject({
        status: 400,
        param: 'background',
      });
      await expect(openClient().responses.retrieve(id)).rejects.toMatchObject({ status: 501 });
      await expect(openClient().responses.cancel(id)).rejects.toMatchObject({ status: 501 });
      await expect(openClient().conversations.create({})).rejects.toMatchObject({ status: 501 });
      expect(calls()).toBe(before);
    },
    TIMEOUT_MS,
  );
});
