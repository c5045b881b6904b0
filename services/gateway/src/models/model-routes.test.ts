import { describe, expect, test } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { Agent, setGlobalDispatcher } from 'undici';
import { aRelayChannel } from '../../testing/a-relay-channel.ts';
import { TOKEN } from '../../testing/fake-services.ts';
import { checkedConfig, startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { call } from '../../testing/http-call.ts';

// Google's SDK uses the global dispatcher, and the globals of a test differ from those of the process
setGlobalDispatcher(new Agent());

async function withGateway(run: (under: GatewayUnderTest) => Promise<void>): Promise<void> {
  const channels = [
    aRelayChannel({ models: { 'some-model': 'up-1', gem: 'up-2' }, endpoints: ['chat', 'generate_content'] }),
    aRelayChannel({ id: 'embeds', models: { vectors: 'up-3' }, endpoints: ['embeddings'] }),
    aRelayChannel({ id: 'off', models: { hidden: 'up-4' }, enabled: false }),
  ];
  const under = await startGatewayUnderTest({ channels });
  try {
    await run(under);
  } finally {
    await under.stop();
  }
}

const ALL = ['Alpha-H3', 'Beta-V1', 'some-model', 'gem', 'vectors'];
const google = (url: string, apiVersion: string, headers: Record<string, string> = {}) =>
  new GoogleGenAI({ apiKey: TOKEN, httpOptions: { baseUrl: url, apiVersion, headers } });

describe('the models of every enabled channel are listed and read in the shape of the client', () => {
  test('OpenAI', () =>
    withGateway(async ({ url }) => {
      const openai = new OpenAI({ apiKey: TOKEN, baseURL: `${url}/v1` });

      expect((await openai.models.list()).data.map(({ id }) => id)).toEqual(ALL);
      expect(await openai.models.retrieve('vectors')).toMatchObject({ id: 'vectors', object: 'model' });
      await expect(openai.models.retrieve('hidden')).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
    }));
  test('Anthropic, by its version and by its key', () =>
    withGateway(async ({ url }) => {
      const anthropic = new Anthropic({ apiKey: null, authToken: TOKEN, baseURL: url });
      const ids = [];
      for await (const { id } of anthropic.models.list({ limit: 2 })) ids.push(id);

      expect(ids).toEqual(ALL);
      expect((await anthropic.models.list()).data[0]).toMatchObject({
        type: 'model',
        lifecycle: 'active',
        capabilities: null,
      });
      expect(await anthropic.models.retrieve('gem')).toMatchObject({ id: 'gem', type: 'model', display_name: 'gem' });
      await expect(anthropic.models.retrieve('hidden')).rejects.toMatchObject({ status: 404, type: 'not_found_error' });
      expect(
        (await call(url, 'GET', '/v1/models', { token: null, headers: { 'x-api-key': TOKEN } })).json,
      ).toMatchObject({ has_more: false, first_id: 'Alpha-H3', last_id: 'vectors' });
    }));
  test('Google at v1, by its key', () =>
    withGateway(async ({ url }) => {
      const client = google(url, 'v1');
      const names = [];
      for await (const { name } of await client.models.list({ config: { pageSize: 2 } })) names.push(name);

      expect(names).toEqual(ALL.map((id) => `models/${id}`));
      expect(await client.models.get({ model: 'gem' })).toMatchObject({
        name: 'models/gem',
        supportedActions: ['generateContent', 'streamGenerateContent'],
      });
      expect((await client.models.get({ model: 'vectors' })).supportedActions).toEqual([]);
      await expect(client.models.get({ model: 'hidden' })).rejects.toMatchObject({
        status: 404,
        message: expect.stringContaining('NOT_FOUND'),
      });
    }));
  test('Google at v1beta, which lists only the models that generate content', () =>
    withGateway(async ({ url }) => {
      const client = google(url, 'v1beta', { authorization: `Bearer ${TOKEN}` });
      const names = [];
      for await (const { name } of await client.models.list()) names.push(name);

      expect(names).toEqual(['models/some-model', 'models/gem']);
      expect(await client.models.get({ model: 'gem' })).toMatchObject({ name: 'models/gem', displayName: 'gem' });
    }));
  test.each([['/v1/models'], ['/v1beta/models']])('Google, by a key in the query: %s', (path) =>
    withGateway(async ({ url }) => {
      expect((await call(url, 'GET', `${path}?key=${TOKEN}`, { token: null })).json.models).toContainEqual(
        expect.objectContaining({ name: 'models/gem' }),
      );
      expect((await call(url, 'GET', `${path}/gem?key=${TOKEN}`, { token: null })).json).toMatchObject({
        name: 'models/gem',
      });
      expect((await call(url, 'GET', `${path}?key=wrong-token`, { token: null })).json.error).toMatchObject({
        code: 401,
        status: 'UNAUTHENTICATED',
      });
    }),
  );
});

test('a model that the token may not use, or that no channel serves, does not exist', () =>
  withGateway(async ({ url, billing }) => {
    billing.tokens.set('rg_narrow-token', { models: ['gem', 'hidden'] });
    const token = 'rg_narrow-token';

    expect((await call(url, 'GET', '/v1/models', { token })).json.data).toMatchObject([{ id: 'gem' }]);
    for (const path of ['/v1/models/hidden', '/v1/models/some-model'])
      expect((await call(url, 'GET', path, { token })).json.error.code).toBe('model_not_found');
    expect((await call(url, 'GET', '/v1beta/models/vectors')).json.error).toMatchObject({
      code: 404,
      status: 'NOT_FOUND',
    });
  }));

test('a reload changes what is served and what is listed', () =>
  withGateway(async ({ url, gateway }) => {
    await gateway.reload({ ...(checkedConfig() as object), channels: [aRelayChannel({ models: { fresh: 'up' } })] });

    expect((await call(url, 'GET', '/v1/models')).json.data).toMatchObject([{ id: 'fresh' }]);
    expect((await call(url, 'POST', '/v1/chat/completions', { body: { model: 'some-model' } })).status).toBe(404);
    expect((await call(url, 'POST', '/v1/chat/completions', { body: { model: 'fresh' } })).status).toBe(503);
  }));
