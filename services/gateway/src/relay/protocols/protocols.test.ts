import { describe, expect, test } from '@jest/globals';
import { anthropicCount, anthropicMessages } from './anthropic-messages.ts';
import { googleGenerate } from './google-generate.ts';
import { openaiChat, openaiResponses } from './openai.ts';
import { embeddings, images, rerank, speech, transcription } from './plain.ts';
import type { CallContent, JsonObject, Protocol } from './protocol.ts';
import type { Usage } from '../../domain/call-usage.ts';
import { resolveUsage } from './resolve-usage.ts';
import type { Counters } from './usage-counters.ts';

function aContent(json: JsonObject | undefined, over: Partial<CallContent> = {}): CallContent {
  return { path: '/v1/x', json, fields: new Map(), bodyBytes: Buffer.byteLength(JSON.stringify(json ?? '')), ...over };
}
const after = (protocol: Protocol, ...events: JsonObject[]): Usage | undefined =>
  resolveUsage(
    events.reduce<Counters | undefined>((counters, event) => protocol.stream.countersAfter(event, counters), undefined),
  );

describe('the usage of a whole answer', () => {
  test.each<[string, Protocol, JsonObject, Usage | undefined]>([
    [
      'chat',
      openaiChat,
      {
        usage: {
          prompt_tokens: 9,
          completion_tokens: 2,
          total_tokens: 11,
          prompt_tokens_details: { cached_tokens: 4 },
        },
      },
      { inputTokens: 9, cachedInputTokens: 4, outputTokens: 2 },
    ],
    [
      'responses',
      openaiResponses,
      { usage: { input_tokens: 7, input_tokens_details: { cached_tokens: 0 }, output_tokens: 3, total_tokens: 10 } },
      { inputTokens: 7, cachedInputTokens: 0, outputTokens: 3 },
    ],
    [
      'messages, with the cache added to the input',
      anthropicMessages,
      { usage: { input_tokens: 5, cache_creation_input_tokens: 10, cache_read_input_tokens: 20, output_tokens: 3 } },
      { inputTokens: 35, cachedInputTokens: 20, cacheWriteTokens: 10, outputTokens: 3 },
    ],
    [
      'generateContent with thoughts',
      googleGenerate,
      {
        usageMetadata: {
          promptTokenCount: 4,
          candidatesTokenCount: 6,
          thoughtsTokenCount: 10,
          cachedContentTokenCount: 1,
          totalTokenCount: 20,
        },
      },
      { inputTokens: 4, cachedInputTokens: 1, outputTokens: 16, reasoningTokens: 10 },
    ],
    ['embeddings', embeddings, { usage: { prompt_tokens: 8, total_tokens: 8 } }, { inputTokens: 8, outputTokens: 0 }],
    ['rerank by tokens', rerank, { usage: { total_tokens: 12 } }, { inputTokens: 12, outputTokens: 0 }],
    [
      'rerank by billed units',
      rerank,
      { meta: { billed_units: { input_tokens: 5 } } },
      { inputTokens: 5, outputTokens: 0 },
    ],
    ['images', images, { data: [{ url: 'x' }, { b64_json: 'x' }, {}] }, { images: 2 }],
    [
      'images with tokens',
      images,
      { data: [{ url: 'x' }], usage: { input_tokens: 5, output_tokens: 100 } },
      { images: 1, inputTokens: 5, outputTokens: 100 },
    ],
    ['transcription by seconds', transcription, { text: 'x', usage: { type: 'duration', seconds: 7 } }, { seconds: 7 }],
    ['transcription with its duration', transcription, { text: 'x', duration: 3.2 }, { seconds: 4 }],
    ['nothing', openaiChat, { usage: null }, undefined],
    ['nonsense', openaiChat, { usage: { prompt_tokens: -1, completion_tokens: 'many', total_tokens: [] } }, undefined],
  ])('%s', (_, protocol, answer, usage) => {
    expect(protocol.usageIn(answer, aContent({ n: 1 }))).toEqual(usage);
  });
  test('counting tokens uses no tokens', () => {
    expect(anthropicCount.usageIn({ input_tokens: 14 }, aContent({}))).toBeUndefined();
  });
});

describe('the usage of a stream', () => {
  test('chat: the last event has it', () => {
    expect(
      after(
        openaiChat,
        { choices: [{}], usage: null },
        { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } },
      ),
    ).toEqual({ inputTokens: 1, outputTokens: 2 });
  });
  test('responses: the event that ends the response has it', () => {
    expect(
      after(openaiResponses, {
        type: 'response.incomplete',
        response: { usage: { input_tokens: 1, output_tokens: 2 } },
      }),
    ).toEqual({ inputTokens: 1, outputTokens: 2 });
  });
  test('messages: the first event has the input, the last the output', () => {
    expect(
      after(
        anthropicMessages,
        {
          type: 'message_start',
          message: { usage: { input_tokens: 25, cache_read_input_tokens: 5, output_tokens: 1 } },
        },
        { type: 'message_delta', usage: { output_tokens: 15 } },
      ),
    ).toEqual({ inputTokens: 30, cachedInputTokens: 5, outputTokens: 15 });
  });
  test('generateContent: each event counts from the beginning', () => {
    expect(
      after(
        googleGenerate,
        { usageMetadata: { promptTokenCount: 4 } },
        { usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 9 } },
      ),
    ).toEqual({ inputTokens: 4, outputTokens: 9 });
  });
  test('images: every finished image counts', () => {
    expect(
      after(
        images,
        { type: 'image_generation.completed', usage: { input_tokens: 1, output_tokens: 9 } },
        { type: 'image_generation.completed' },
      ),
    ).toEqual({ images: 2, inputTokens: 1, outputTokens: 9 });
  });
});

describe('the upper bound', () => {
  const message = (text: string): JsonObject => ({ messages: [{ role: 'user', content: text }] });

  test.each<[string, Protocol, CallContent, object]>([
    ['chat', openaiChat, aContent({ ...message('x'), max_tokens: 10, n: 3 }), { outputTokens: 30 }],
    [
      'chat with the newer name',
      openaiChat,
      aContent({ max_completion_tokens: 7, max_tokens: 10 }),
      { outputTokens: 7 },
    ],
    ['responses', openaiResponses, aContent({ max_output_tokens: 5 }), { outputTokens: 5 }],
    ['messages', anthropicMessages, aContent({ max_tokens: 6 }), { outputTokens: 6 }],
    [
      'generateContent',
      googleGenerate,
      aContent({ generationConfig: { maxOutputTokens: 4, candidateCount: 2 } }),
      { outputTokens: 8 },
    ],
    ['embeddings', embeddings, aContent({ input: 'x' }), { outputTokens: 0 }],
    ['images', images, aContent({ n: 4 }), { images: 4 }],
    ['images in a form', images, aContent(undefined, { fields: new Map([['n', '2']]) }), { images: 2 }],
    ['speech', speech, aContent({ input: 'ünï🚤' }), { characters: 4 }],
  ])('%s', (_, protocol, content, bound) => {
    expect(protocol.priceFacts(content)).toMatchObject(bound);
  });
  test('a product of huge limits stays a number that billing accepts', () => {
    const huge = Number.MAX_SAFE_INTEGER;

    expect(openaiChat.priceFacts(aContent({ max_tokens: huge, n: huge })).outputTokens).toBe(huge);
  });
  test('does not exist for an unlimited answer', () => {
    expect(openaiChat.priceFacts(aContent(message('x'))).outputTokens).toBeUndefined();
  });
  test('of a text is its bytes', () => {
    const content = aContent(message('ü'.repeat(20_000)));

    expect(openaiChat.priceFacts(content).inputTokens).toBeGreaterThanOrEqual(40_000);
    expect(openaiChat.priceFacts(content).inputTokens).toBeLessThan(41_000);
  });
  test('of a picture within the body does not depend on its bytes', () => {
    const picture = `data:image/png;base64,${'iVBORw0KGgo'.repeat(100_000)}`;

    expect(
      openaiChat.priceFacts(
        aContent({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: picture } }] }] }),
      ).inputTokens,
    ).toBeLessThan(3000);
  });
});

describe('a request for a stream is recognized', () => {
  test.each<[string, Protocol, CallContent, boolean]>([
    ['chat', openaiChat, aContent({ stream: true }), true],
    ['chat, not', openaiChat, aContent({ stream: false }), false],
    ['chat, with a string', openaiChat, aContent({ stream: 'true' }), false],
    ['generateContent', googleGenerate, aContent({}, { path: '/v1beta/models/m:streamGenerateContent' }), true],
    ['generateContent, not', googleGenerate, aContent({}, { path: '/v1beta/models/m:generateContent' }), false],
    ['a transcription in a form', transcription, aContent(undefined, { fields: new Map([['stream', 'true']]) }), true],
    ['speech', speech, aContent({ stream_format: 'sse' }), true],
  ])('%s', (_, protocol, content, asked) => {
    expect(protocol.isStream(content)).toBe(asked);
  });
});

describe('usage in a chat stream', () => {
  test.each([
    [{}, '{"include_usage":true}'],
    [{ stream_options: null }, '{"include_usage":true}'],
    [{ stream_options: { include_obfuscation: false } }, '{"include_obfuscation":false,"include_usage":true}'],
    [{ stream_options: { include_usage: false } }, '{"include_usage":true}'],
  ])('is requested if the client did not request it: %j', (json, valueJson) => {
    expect(openaiChat.stream.askUsage?.(json)).toEqual({ name: 'stream_options', valueJson });
  });
  test('is not requested twice', () => {
    expect(openaiChat.stream.askUsage?.({ stream_options: { include_usage: true } })).toBeUndefined();
  });
  test('arrives in an event without choices', () => {
    expect(openaiChat.stream.isOnlyUsage?.({ choices: [], usage: { prompt_tokens: 1 } })).toBe(true);
    expect(openaiChat.stream.isOnlyUsage?.({ choices: null, usage: { prompt_tokens: 1 } })).toBe(true);
    expect(openaiChat.stream.isOnlyUsage?.({ id: 'chat_1', usage: { prompt_tokens: 1 } })).toBe(true);
    expect(openaiChat.stream.isOnlyUsage?.({ error: {}, usage: { prompt_tokens: 1 } })).toBe(false);
    expect(openaiChat.stream.isOnlyUsage?.({ choices: [{}], usage: { prompt_tokens: 1 } })).toBe(false);
    expect(openaiChat.stream.isOnlyUsage?.({ choices: [], prompt_filter_results: [] })).toBe(false);
  });
});

test.each([openaiChat, openaiResponses, anthropicMessages, googleGenerate, embeddings])(
  'a fault in a stream is one event that ends with a blank line: $name',
  (protocol) => {
    const frame = protocol.stream.faultFrame({ message: 'broke "off"', code: 'upstream_failed', status: 502 });

    expect(frame).toMatch(/^(event: error\n)?data: \{[^\n]+\}\n\n$/);
    expect(JSON.stringify(JSON.parse(frame.slice(frame.indexOf('{'))))).toContain('broke \\"off\\"');
  },
);
