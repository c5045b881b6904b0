import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { OTHER_USAGES } from '../../../testing/vendor-other-usages.ts';
import { OWN_USAGES } from '../../../testing/vendor-own-usages.ts';
import { TEXT_USAGES } from '../../../testing/vendor-text-usages.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { googleGenerate } from './google-generate.ts';
import { openaiChat, openaiResponses } from './openai.ts';
import type { CallContent, JsonObject, Protocol } from './protocol.ts';
import type { Usage } from '../../domain/call-usage.ts';
import { resolveUsage } from './resolve-usage.ts';
import { readCounters } from './usage-counters.ts';
import type { Counters } from './usage-counters.ts';

const CONTENT: CallContent = { path: '/v1/x', json: { input: 'ab' }, fields: new Map(), bodyBytes: 10 };
const read = (answer: JsonObject): Usage | undefined => resolveUsage(readCounters(answer));
const after = (protocol: Protocol, ...events: readonly JsonObject[]): Usage | undefined =>
  resolveUsage(
    events.reduce<Counters | undefined>((before, event) => protocol.stream.countersAfter(event, before), undefined),
  );

describe('the published usage of', () => {
  test.each([...TEXT_USAGES, ...OWN_USAGES, ...OTHER_USAGES])('%s', (_vendor, protocol, answer, usage) => {
    expect(protocol.usageIn(answer, CONTENT)).toEqual(usage);
  });
});

describe('counters of a stream never fall', () => {
  const start = (usage: object): JsonObject => ({ type: 'message_start', message: { usage } });
  const end = (usage: object): JsonObject => ({ type: 'message_delta', usage });

  test.each<[string, readonly JsonObject[], Usage]>([
    [
      'an input that a relay repeats as 0',
      [
        start({ input_tokens: 1500, output_tokens: 1 }),
        end({ input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 50 }),
      ],
      { inputTokens: 1500, cachedInputTokens: 0, outputTokens: 50 },
    ],
    [
      'an input that a relay repeats without the cache',
      [
        start({ input_tokens: 10, cache_read_input_tokens: 5000, output_tokens: 1 }),
        end({ input_tokens: 10, output_tokens: 50 }),
      ],
      { inputTokens: 5010, cachedInputTokens: 5000, outputTokens: 50 },
    ],
    [
      'an input and a cache that come only at the end',
      [
        start({ input_tokens: 0, output_tokens: 0 }),
        end({ input_tokens: 9, cache_read_input_tokens: 700, cache_creation_input_tokens: 30, output_tokens: 5 }),
      ],
      { inputTokens: 739, cachedInputTokens: 700, cacheWriteTokens: 30, outputTokens: 5 },
    ],
    [
      'the lifetimes of a cache that only the start has',
      [
        start({
          input_tokens: 3,
          cache_creation_input_tokens: 400,
          cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 400 },
        }),
        end({ output_tokens: 6, server_tool_use: { web_search_requests: 1 } }),
      ],
      { inputTokens: 403, cacheWriteTokens: 400, cacheWrite1hTokens: 400, outputTokens: 6, searches: 1 },
    ],
  ])('messages: %s', (_what, events, usage) => {
    expect(after(anthropicMessages, ...events)).toEqual({ cachedInputTokens: usage.cachedInputTokens, ...usage });
  });
  test.each<[string, readonly JsonObject[]]>([
    ['in every chunk', [2, 5, 9].map((output) => ({ usage: { prompt_tokens: 4, completion_tokens: output } }))],
    ['in the last chunk', [{ usage: null }, { choices: [], usage: { prompt_tokens: 4, completion_tokens: 9 } }]],
    ['at Groq', [{ x_groq: { id: 'r' } }, { x_groq: { usage: { prompt_tokens: 4, completion_tokens: 9 } } }]],
    [
      'at Moonshot, once more at the top',
      [
        { choices: [{ delta: {}, usage: { prompt_tokens: 4, completion_tokens: 9 } }] },
        { choices: [], usage: { prompt_tokens: 4, completion_tokens: 9 } },
      ],
    ],
    ['at Cohere', [{ type: 'message-end', delta: { usage: { billed_units: { input_tokens: 4, output_tokens: 9 } } } }]],
    [
      'and then as nothing',
      [
        { usage: { prompt_tokens: 4, completion_tokens: 9 } },
        { usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } },
      ],
    ],
  ])('chat: %s', (_where, events) => {
    expect(after(openaiChat, ...events)).toEqual({ inputTokens: 4, outputTokens: 9 });
  });
  test('thoughts and candidates that come in other events than the prompt', () => {
    expect(
      after(
        googleGenerate,
        { usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 } },
        { usageMetadata: { promptTokenCount: 4, thoughtsTokenCount: 20, totalTokenCount: 24 } },
        { usageMetadata: { candidatesTokenCount: 6, totalTokenCount: 30 } },
      ),
    ).toEqual({ inputTokens: 4, outputTokens: 26, reasoningTokens: 20 });
  });
  test('searches that a stream lists beside its usage', () => {
    const output = [{ type: 'web_search_call', action: { type: 'search' } }];
    const metadata = (queries: readonly string[]) => ({
      candidates: [{ groundingMetadata: { webSearchQueries: queries } }],
      usageMetadata: { promptTokenCount: 4 },
    });

    expect(
      after(openaiResponses, { type: 'response.completed', response: { output, usage: { input_tokens: 4 } } }),
    ).toEqual({ inputTokens: 4, searches: 1 });
    expect(after(googleGenerate, metadata(['cats', 'dogs']), metadata([]))).toEqual({ inputTokens: 4, searches: 2 });
  });
  test('whatever the order of the events is', () => {
    const usage = fc.record(
      { input_tokens: fc.nat(), output_tokens: fc.nat(), cache_read_input_tokens: fc.nat() },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(usage, { maxLength: 6 }), (usages) => {
        const events = usages.map((one) => ({ usage: one }));
        const whole = after(anthropicMessages, ...events);

        expect(after(anthropicMessages, ...events.toReversed())).toEqual(whole);
        for (let count = 0; count < events.length; count += 1)
          expect(whole?.inputTokens ?? 0).toBeGreaterThanOrEqual(
            after(anthropicMessages, ...events.slice(0, count))?.inputTokens ?? 0,
          );
      }),
    );
  });
});

describe('the usage of a vendor that no page names', () => {
  test.each<[string, JsonObject, Usage]>([
    [
      'reasoning beside the output, by the total',
      { prompt_tokens: 100, completion_tokens: 50, reasoning_tokens: 30, total_tokens: 180 },
      { inputTokens: 100, outputTokens: 80, reasoningTokens: 30 },
    ],
    [
      'reasoning inside the output, by the total',
      { prompt_tokens: 100, completion_tokens: 50, reasoning_tokens: 30, total_tokens: 150 },
      { inputTokens: 100, outputTokens: 50, reasoningTokens: 30 },
    ],
    [
      'a cache beside the input, by the total',
      { prompt_tokens: 100, cached_tokens: 40, completion_tokens: 50, total_tokens: 190 },
      { inputTokens: 140, cachedInputTokens: 40, outputTokens: 50 },
    ],
    [
      'a cache inside the input, by the total, under names that Anthropic uses for one beside',
      { input_tokens: 100, cache_read_input_tokens: 40, output_tokens: 50, total_tokens: 150 },
      { inputTokens: 100, cachedInputTokens: 40, outputTokens: 50 },
    ],
    [
      'a cache that is larger than the input, so it is beside',
      { prompt_tokens: 100, cached_tokens: 400, completion_tokens: 50 },
      { inputTokens: 500, cachedInputTokens: 400, outputTokens: 50 },
    ],
    [
      'written and read cache and reasoning beside, by the total',
      {
        inputTokens: 10,
        cacheReadTokens: 200,
        cacheWriteTokens: 30,
        outputTokens: 5,
        thinkingTokens: 7,
        totalTokens: 252,
      },
      { inputTokens: 240, cachedInputTokens: 200, cacheWriteTokens: 30, outputTokens: 12, reasoningTokens: 7 },
    ],
    [
      'pictures and sound beside the text, by the total',
      { prompt_tokens: 100, completion_tokens: 20, image_tokens: 60, audio_tokens: 5, total_tokens: 185 },
      { inputTokens: 165, audioInputTokens: 5, imageInputTokens: 60, outputTokens: 20 },
    ],
    [
      'searches under other names',
      { prompt_tokens: 1, completion_tokens: 2, num_searches: 3, server_tool_use: { web_search: 2 } },
      { inputTokens: 1, outputTokens: 2, searches: 3 },
    ],
    [
      'a total that is less than its parts, which is not believed',
      { prompt_tokens: 100, completion_tokens: 50, total_tokens: 60 },
      { inputTokens: 100, outputTokens: 50 },
    ],
    [
      'strings, fractions, nulls and negative numbers',
      { promptTokens: '100', completionTokens: 49.2, cachedTokens: null, reasoningTokens: -5, totalTokens: '150.0' },
      { inputTokens: 100, outputTokens: 50 },
    ],
    [
      'an endless number and one that is no number',
      { prompt_tokens: 1e300, input_tokens: 12, output_tokens: 'NaN', completion_tokens: 3 },
      { inputTokens: 12, outputTokens: 3 },
    ],
    [
      'nested objects without the word token',
      { input: { total: 100, cacheRead: 60, noCache: 40 }, output: { total: 30, reasoning: 10 } },
      { inputTokens: 100, cachedInputTokens: 60, outputTokens: 30, reasoningTokens: 10 },
    ],
    ['in and out', { tokens_in: 8, tokensOut: 3 }, { inputTokens: 8, outputTokens: 3 }],
    [
      'totals of both directions, and a cache of text alone',
      { total_input_tokens: 90, total_output_tokens: 12, input_cached_text_tokens: 30 },
      { inputTokens: 90, cachedInputTokens: 30, outputTokens: 12 },
    ],
    [
      'the counts and times of an evaluation',
      { prompt_eval_count: 26, eval_count: 290, eval_duration: 4_709_213_000, prompt_eval_duration: 325_953_000 },
      { inputTokens: 26, outputTokens: 290 },
    ],
    ['kebab case and capitals', { 'Prompt-Tokens': 8, 'Completion-Tokens': 3 }, { inputTokens: 8, outputTokens: 3 }],
    [
      'only the parts of the input that are text and sound',
      { input_text_tokens: 5, input_audio_tokens: 20, output_text_tokens: 2, output_audio_tokens: 9 },
      { inputTokens: 25, audioInputTokens: 20, outputTokens: 11, audioOutputTokens: 9 },
    ],
    [
      'a cache as hit and miss alone',
      { cache_hit_tokens: 60, cache_miss_tokens: 40, output_tokens: 5 },
      { inputTokens: 100, cachedInputTokens: 60, outputTokens: 5 },
    ],
    ['a total and an output', { total_tokens: 100, completion_tokens: 20 }, { inputTokens: 80, outputTokens: 20 }],
    [
      'limits, rates, times and costs beside the counters',
      {
        prompt_tokens: 8,
        completion_tokens: 3,
        max_tokens: 4096,
        tokens_per_second: 80,
        remaining_tokens: 1_000_000,
        prompt_ms: 900,
        cost_tokens: 77,
        context_tokens: 128_000,
        estimated_prompt_tokens: 99,
      },
      { inputTokens: 8, outputTokens: 3 },
    ],
  ])('%s', (_what, usage, expected) => {
    expect(read({ usage })).toEqual(expected);
    expect(read({ response: { usage } })).toEqual(expected);
    expect(read({ choices: [{ usage }] })).toEqual(expected);
  });
  test.each<[string, JsonObject]>([
    ['a number', { usage: 5 }],
    ['a list', { usage: [{ prompt_tokens: 5 }] }],
    ['words', { usage: { prompt_tokens: 'many', note: 'text' } }],
    ['other counters', { usage: { requests: 5, total_time: 3, request_count: 8 } }],
  ])('does not exist if it is %s', (_what, answer) => {
    expect(read(answer)).toBeUndefined();
  });
  test('is read in bounded time, however deep and wide it is', () => {
    let deep: object = { prompt_tokens: 5 };
    for (let depth = 0; depth < 1000; depth += 1) deep = { inner: deep };
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`prompt_tokens_${index}`, index]));

    expect(read({ usage: { ...deep, completion_tokens: 3 } })).toEqual({ outputTokens: 3 });
    expect(read({ usage: wide })?.inputTokens).toBeLessThan(1000);
  });
});
