import { expect, test } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { aRelayChannel } from '../../testing/a-relay-channel.ts';
import { TOKEN } from '../../testing/fake-services.ts';
import { checkedConfig, startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { call } from '../../testing/http-call.ts';

async function withGateway(run: (under: GatewayUnderTest) => Promise<void>): Promise<void> {
  const channels = [
    aRelayChannel({ models: { 'some-model': 'up-1', gem: 'up-2' }, endpoints: ['chat', 'generate_content'] }), aRelayChannel({ id: 'embeds', models: { vectors: 'up-3' }, endpoints: ['embeddings'] }),
    aRelayChannel({ id: 'off', models: { hidden: 'up-4' }, enabled: false }),
  ];
  const under = await startGatewayUnderTest({ channels });
  try {
    await run(under);
  } finally {
    await under.stop();
  }
}

test('the models of every enabled channel are listed, each for the clients that ask', () => withGateway(async ({ url }) => {
  const openai = new OpenAI({ apiKey: TOKEN, baseURL: `${url}/v1` });
  const anthropic = new Anthropic({ apiKey: null, authToken: TOKEN, baseURL: url });

  expect((await openai.models.list()).data.map(({ id }) => id)).toEqual(['Alpha-H3', 'Beta-V1', 'some-model', 'gem', 'vectors']);
  expect(await openai.models.retrieve('vectors')).toMatchObject({ id: 'vectors', object: 'model' });
  expect((await anthropic.models.list()).data.map(({ id, type }) => [id, type])).toContainEqual(['some-model', 'model']);
  expect(await anthropic.models.retrieve('gem')).toMatchObject({ id: 'gem', type: 'model', display_name: 'gem' });
  expect((await call(url, 'GET', '/v1beta/models', { token: null, headers: { 'x-goog-api-key': TOKEN } })).json.models).toMatchObject([{ name: 'models/some-model' }, { name: 'models/gem' }]);
  expect((await call(url, 'GET', '/v1beta/models/gem')).json).toMatchObject({ name: 'models/gem', supportedGenerationMethods: ['generateContent', 'streamGenerateContent'] });
}));

test('what the token does not see, or nobody serves, is not there', () => withGateway(async ({ url, billing }) => {
  billing.tokens.set('rg_narrow-token', { models: ['gem', 'hidden'] });
  const token = 'rg_narrow-token';

  expect((await call(url, 'GET', '/v1/models', { token })).json.data).toMatchObject([{ id: 'gem' }]);
  for (const path of ['/v1/models/hidden', '/v1/models/some-model']) expect((await call(url, 'GET', path, { token })).json.error.code).toBe('model_not_found');
  expect((await call(url, 'GET', '/v1beta/models/vectors')).json.error).toMatchObject({ code: 404, status: 'NOT_FOUND' });
}));

test('a new configuration changes what is served and what is listed', () => withGateway(async ({ url, gateway }) => {
  await gateway.reload({ ...(checkedConfig() as object), channels: [aRelayChannel({ models: { fresh: 'up' } })] });

  expect((await call(url, 'GET', '/v1/models')).json.data).toMatchObject([{ id: 'fresh' }]);
  expect((await call(url, 'POST', '/v1/chat/completions', { body: { model: 'some-model' } })).status).toBe(404);
  expect((await call(url, 'POST', '/v1/chat/completions', { body: { model: 'fresh' } })).status).toBe(503);
}));
