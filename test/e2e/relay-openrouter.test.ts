import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import { OpenRouter } from '@openrouter/sdk';
import { NotFoundResponseError } from '@openrouter/sdk/models/errors';
import { embed, generateText } from 'ai';
import OpenAI from 'openai';
import { httpCaller } from '../harness/client.ts';
import { startRelayProgram } from '../harness/relay-program.ts';
import type { RelayProgram } from '../harness/relay-program.ts';
import { KEYS } from '../harness/test-config.ts';
import { collected } from './relay-calls/sdk-call.ts';

const START_TIMEOUT_MS = 120_000;
const TEXT = 'a red boat';

let relay: RelayProgram;
let baseURL: string;
let openRouter: OpenRouter;
let openai: OpenAI;
beforeAll(async () => {
  relay = await startRelayProgram();
  baseURL = `${relay.program.base}/api/v1`;
  openRouter = new OpenRouter({ apiKey: KEYS.demo, serverURL: baseURL });
  openai = new OpenAI({ apiKey: KEYS.demo, baseURL, maxRetries: 0 });
}, START_TIMEOUT_MS);
afterAll(async () => {
  await relay?.end();
}, START_TIMEOUT_MS);

const chatRequest = { model: 'solo', messages: [{ role: 'user' as const, content: TEXT }] };
const asked = (text: string): number => relay.upstream.marked(text).length;

describe('the base address of OpenRouter leads to the relay', () => {
  test('for the SDK of OpenRouter', async () => {
    const answer = await openRouter.chat.send({ chatRequest: { ...chatRequest, stream: false } });
    expect(answer).toMatchObject({ model: 'solo', choices: [{ message: { content: expect.stringMatching(/\S/) } }] });
    const stream = await openRouter.chat.send({ chatRequest: { ...chatRequest, stream: true } });
    expect((await collected(stream as AsyncIterable<unknown>)).length).toBeGreaterThan(2);
    const vectors = await openRouter.embeddings.generate({ requestBody: { model: 'solo', input: TEXT } });
    expect(vectors).toMatchObject({ model: 'solo', data: [{ embedding: [0.25, -0.5, 1] }] });
    const { result } = await openRouter.models.list();
    expect(result.data.find(({ id }) => id === 'chat-only')).toMatchObject({
      architecture: { outputModalities: ['text'] },
      pricing: { prompt: '-1', completion: '-1' },
    });
  });

  test('for its provider of the AI SDK', async () => {
    const provider = createOpenRouter({ baseURL, apiKey: KEYS.demo });

    expect((await generateText({ model: provider.chat('solo'), prompt: TEXT })).text).toMatch(/\S/);
    const { embedding } = await embed({ model: provider.textEmbeddingModel('solo'), value: TEXT });
    expect(embedding).toEqual([0.25, -0.5, 1]);
  });

  test('for the SDKs of OpenAI and Anthropic, as its clients point them there', async () => {
    expect(await openai.chat.completions.create(chatRequest)).toMatchObject({ model: 'solo' });
    expect(await openai.responses.create({ model: 'solo', input: TEXT })).toMatchObject({ status: 'completed' });
    expect((await openai.models.list()).data.map(({ id }) => id)).toContain('solo');
    const anthropic = new Anthropic({ authToken: KEYS.demo, apiKey: null, baseURL: `${relay.program.base}/api` });
    const body = { model: 'claude', max_tokens: 16, messages: [{ role: 'user' as const, content: TEXT }] };
    expect(await anthropic.messages.create(body)).toMatchObject({ model: 'claude' });
    await expect(anthropic.messages.create({ ...body, model: 'none' })).rejects.toMatchObject({
      status: 404,
      error: { type: 'error', error: { type: 'not_found_error' } },
    });
  });

  test('for plain calls', async () => {
    const { call } = httpCaller(relay.program.base, KEYS.demo);

    expect((await call('POST', '/api/v1/rerank', { model: 'solo', query: TEXT, documents: [TEXT] })).status).toBe(200);
    expect((await call('POST', '/api/v1/audio/speech', { model: 'solo', input: TEXT, voice: 'alloy' })).status).toBe(
      200,
    );
    const counted = { model: 'claude', messages: [{ role: 'user', content: TEXT }] };
    expect((await call('POST', '/api/v1/messages/count_tokens', counted)).json).toMatchObject({
      input_tokens: expect.any(Number),
    });
  });
});

describe('a refusal of the relay is read by the SDK of OpenRouter', () => {
  test('of a model that is not there', async () => {
    await expect(openRouter.embeddings.generate({ requestBody: { model: 'none', input: TEXT } })).rejects.toThrow(
      NotFoundResponseError,
    );
  });

  test('of a connection that broke, and the call is not made again', async () => {
    const mark = '900001';
    const messages = [{ role: 'user' as const, content: `[mark:${mark}] [reset]` }];

    await expect(
      openRouter.chat.send({ chatRequest: { model: 'solo', messages, stream: false } }),
    ).rejects.toMatchObject({ statusCode: 424 });
    expect(asked(mark)).toBe(1);
  });
});
