import { anthropicMessages } from '../src/relay/protocols/anthropic-messages.ts';
import { googleGenerate } from '../src/relay/protocols/google-generate.ts';
import { openaiChat, openaiResponses } from '../src/relay/protocols/openai.ts';
import type { JsonObject, Protocol } from '../src/relay/protocols/protocol.ts';
import type { Usage } from '../src/domain/call-usage.ts';

/** A usage object that a vendor publishes or that somebody recorded, with its source, and how it is read. */
export type VendorUsage = readonly [vendor: string, protocol: Protocol, answer: JsonObject, usage: Usage];

export const TEXT_USAGES: readonly VendorUsage[] = [
  [
    'OpenAI, chat with sound and a prediction (platform.openai.com/docs/api-reference/chat/object)',
    openaiChat,
    {
      usage: {
        prompt_tokens: 1117,
        completion_tokens: 46,
        total_tokens: 1163,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 100 },
        completion_tokens_details: {
          reasoning_tokens: 6,
          audio_tokens: 20,
          accepted_prediction_tokens: 4,
          rejected_prediction_tokens: 3,
        },
      },
    },
    {
      inputTokens: 1117,
      cachedInputTokens: 0,
      audioInputTokens: 100,
      outputTokens: 46,
      reasoningTokens: 6,
      audioOutputTokens: 20,
    },
  ],
  [
    'OpenAI, responses (platform.openai.com/docs/api-reference/responses/object)',
    openaiResponses,
    {
      usage: {
        input_tokens: 328,
        input_tokens_details: { cached_tokens: 100, cache_write_tokens: 50 },
        output_tokens: 52,
        output_tokens_details: { reasoning_tokens: 32 },
        total_tokens: 380,
      },
    },
    { inputTokens: 328, cachedInputTokens: 100, cacheWriteTokens: 50, outputTokens: 52, reasoningTokens: 32 },
  ],
  [
    'OpenAI, responses with searches, of which each is billed, and an opened page that is not (docs/guides/tools-web-search)',
    openaiResponses,
    {
      output: [
        { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'cats' } },
        { type: 'web_search_call', status: 'completed', action: { type: 'open_page', url: 'https://a.example' } },
        { type: 'web_search_call', status: 'completed' },
        { type: 'message', content: [{ type: 'output_text', text: '"web_search_call"' }] },
      ],
      usage: { input_tokens: 328, output_tokens: 52, total_tokens: 380 },
    },
    { inputTokens: 328, outputTokens: 52, searches: 2 },
  ],
  [
    'Google, with searches, of which each query is billed once and an empty one never (ai.google.dev/gemini-api/docs/google-search)',
    googleGenerate,
    {
      candidates: [{ groundingMetadata: { webSearchQueries: ['', 'cats', 'cats', 'dogs'] } }],
      usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 6, totalTokenCount: 10 },
    },
    { inputTokens: 4, outputTokens: 6, searches: 2 },
  ],
  [
    'Anthropic, with a cache of both lifetimes and searches (docs.anthropic.com/en/api/messages)',
    anthropicMessages,
    {
      usage: {
        input_tokens: 2095,
        cache_creation_input_tokens: 2051,
        cache_read_input_tokens: 3000,
        cache_creation: { ephemeral_5m_input_tokens: 51, ephemeral_1h_input_tokens: 2000 },
        output_tokens: 503,
        server_tool_use: { web_search_requests: 2, web_fetch_requests: 7 },
        service_tier: 'standard',
      },
    },
    {
      inputTokens: 7146,
      cachedInputTokens: 3000,
      cacheWriteTokens: 2051,
      cacheWrite1hTokens: 2000,
      outputTokens: 503,
      searches: 2,
    },
  ],
  [
    'Anthropic, with a compaction that only the iterations have (the page on compaction at a token threshold)',
    anthropicMessages,
    {
      usage: {
        input_tokens: 23_000,
        output_tokens: 1000,
        iterations: [
          { type: 'compaction', input_tokens: 180_000, output_tokens: 3500 },
          { type: 'message', input_tokens: 23_000, output_tokens: 1000 },
        ],
      },
    },
    { inputTokens: 203_000, outputTokens: 4500 },
  ],
  [
    'Google, where thoughts and tools are beside (ai.google.dev/api/generate-content#UsageMetadata)',
    googleGenerate,
    {
      usageMetadata: {
        promptTokenCount: 74,
        candidatesTokenCount: 103,
        thoughtsTokenCount: 293,
        toolUsePromptTokenCount: 155,
        totalTokenCount: 625,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 24 },
          { modality: 'AUDIO', tokenCount: 30 },
          { modality: 'IMAGE', tokenCount: 20 },
        ],
        toolUsePromptTokensDetails: [{ modality: 'TEXT', tokenCount: 155 }],
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 90 }],
      },
    },
    {
      inputTokens: 229,
      audioInputTokens: 30,
      imageInputTokens: 20,
      outputTokens: 396,
      reasoningTokens: 293,
      imageOutputTokens: 90,
    },
  ],
  [
    'Google, with cached sound and without a total',
    googleGenerate,
    {
      usageMetadata: {
        promptTokenCount: 100,
        cachedContentTokenCount: 60,
        cacheTokensDetails: [
          { modality: 'AUDIO', tokenCount: 40 },
          { modality: 'TEXT', tokenCount: 20 },
        ],
        promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 70 }],
        thoughtsTokenCount: 9,
      },
    },
    {
      inputTokens: 100,
      cachedInputTokens: 60,
      audioInputTokens: 70,
      cachedAudioTokens: 40,
      outputTokens: 9,
      reasoningTokens: 9,
    },
  ],
  [
    'Vertex in protobuf JSON, whose numbers are strings',
    googleGenerate,
    { usage_metadata: { prompt_token_count: '7', candidates_token_count: '5', total_token_count: '12' } },
    { inputTokens: 7, outputTokens: 5 },
  ],
  [
    'Google behind its interface for OpenAI, whose thoughts only the total has (mozilla-ai/any-llm#1291)',
    openaiChat,
    { usage: { prompt_tokens: 20, completion_tokens: 151, total_tokens: 553 } },
    { inputTokens: 20, outputTokens: 533 },
  ],
  [
    'Google behind a relay, with nothing but thoughts (router-for-me/CLIProxyAPI#5733)',
    openaiChat,
    {
      usage: {
        completion_tokens: 0,
        total_tokens: 81,
        prompt_tokens: 21,
        completion_tokens_details: { reasoning_tokens: 60 },
      },
    },
    { inputTokens: 21, outputTokens: 60, reasoningTokens: 60 },
  ],
  [
    'xAI, where reasoning is beside (a recorded answer: 89705 + 917 + 564 = 91186)',
    openaiChat,
    {
      usage: {
        prompt_tokens: 89_705,
        completion_tokens: 917,
        total_tokens: 91_186,
        prompt_tokens_details: { text_tokens: 89_705, audio_tokens: 0, image_tokens: 0, cached_tokens: 128 },
        completion_tokens_details: {
          reasoning_tokens: 564,
          audio_tokens: 0,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
        num_sources_used: 3,
        cost_in_usd_ticks: 1_156_993_500,
      },
    },
    { inputTokens: 89_705, cachedInputTokens: 128, outputTokens: 1481, reasoningTokens: 564, searches: 3 },
  ],
  [
    'xAI, responses with searches on the server (a recorded answer)',
    openaiResponses,
    {
      usage: {
        input_tokens: 16_962,
        input_tokens_details: { cached_tokens: 8192 },
        output_tokens: 3727,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 20_689,
        num_sources_used: 0,
        num_server_side_tools_used: 7,
        cost_in_usd_ticks: 569_184_000,
        server_side_tool_usage_details: {
          web_search_calls: 2,
          x_search_calls: 7,
          code_interpreter_calls: 0,
          file_search_calls: 4,
        },
        context_details: { input_tokens: 10_227, output_tokens: 3338 },
      },
    },
    { inputTokens: 16_962, cachedInputTokens: 8192, outputTokens: 3727, searches: 9 },
  ],
  [
    'DeepSeek (api-docs.deepseek.com/guides/kv_cache)',
    openaiChat,
    {
      usage: {
        prompt_tokens: 100,
        completion_tokens: 40,
        total_tokens: 140,
        prompt_cache_hit_tokens: 70,
        prompt_cache_miss_tokens: 30,
        completion_tokens_details: { reasoning_tokens: 12 },
      },
    },
    { inputTokens: 100, cachedInputTokens: 70, outputTokens: 40, reasoningTokens: 12 },
  ],
  [
    'Moonshot, with the cache at the top (platform.moonshot.ai/docs/api/chat)',
    openaiChat,
    { usage: { prompt_tokens: 19, completion_tokens: 21, total_tokens: 40, cached_tokens: 10 } },
    { inputTokens: 19, cachedInputTokens: 10, outputTokens: 21 },
  ],
  [
    'Zhipu (docs.z.ai/api-reference/llm/chat-completion)',
    openaiChat,
    {
      usage: {
        prompt_tokens: 1200,
        completion_tokens: 300,
        prompt_tokens_details: { cached_tokens: 800 },
        total_tokens: 1500,
      },
    },
    { inputTokens: 1200, cachedInputTokens: 800, outputTokens: 300 },
  ],
  [
    'Qwen, with a written cache and sound (alibabacloud.com/help/en/model-studio/context-cache)',
    openaiChat,
    {
      usage: {
        prompt_tokens: 3019,
        completion_tokens: 104,
        total_tokens: 3123,
        prompt_tokens_details: {
          cached_tokens: 2048,
          text_tokens: 2019,
          audio_tokens: 1000,
          cache_creation: { ephemeral_5m_input_tokens: 500 },
          cache_creation_input_tokens: 500,
          cache_type: 'ephemeral',
        },
        completion_tokens_details: { audio_tokens: 84, text_tokens: 20 },
      },
    },
    {
      inputTokens: 3019,
      cachedInputTokens: 2048,
      cacheWriteTokens: 500,
      audioInputTokens: 1000,
      outputTokens: 104,
      audioOutputTokens: 84,
    },
  ],
  [
    'Mistral, with sound by the second (docs.mistral.ai/api)',
    openaiChat,
    { usage: { prompt_audio_seconds: 30, prompt_tokens: 150, completion_tokens: 42, total_tokens: 192 } },
    { inputTokens: 150, outputTokens: 42, seconds: 30 },
  ],
  [
    'Groq, with times (console.groq.com/docs/api-reference)',
    openaiChat,
    {
      usage: {
        queue_time: 0.037,
        prompt_tokens: 18,
        prompt_time: 0.0006,
        completion_tokens: 556,
        completion_time: 0.46,
        total_tokens: 574,
        total_time: 0.464,
      },
      x_groq: { id: 'req_1' },
    },
    { inputTokens: 18, outputTokens: 556 },
  ],
  [
    'Cohere, which bills other tokens than it counts (docs.cohere.com/reference/chat)',
    openaiChat,
    {
      usage: {
        billed_units: { input_tokens: 5, output_tokens: 418 },
        tokens: { input_tokens: 71, output_tokens: 430 },
        cached_tokens: 0,
      },
    },
    { inputTokens: 5, cachedInputTokens: 0, outputTokens: 418 },
  ],
  [
    'Perplexity, whose reasoning no total has (docs.perplexity.ai/getting-started/pricing)',
    openaiChat,
    {
      usage: {
        prompt_tokens: 33,
        completion_tokens: 11_395,
        total_tokens: 11_428,
        citation_tokens: 19_028,
        num_search_queries: 21,
        reasoning_tokens: 193_947,
        search_context_size: 'low',
        cost: { input_tokens_cost: 0.0, output_tokens_cost: 0.091, total_cost: 0.816 },
      },
    },
    { inputTokens: 33, outputTokens: 205_342, reasoningTokens: 193_947, searches: 21 },
  ],
  [
    'OpenRouter (openrouter.ai/docs/use-cases/usage-accounting)',
    openaiChat,
    {
      usage: {
        completion_tokens: 60,
        completion_tokens_details: { reasoning_tokens: 10, image_tokens: 40 },
        cost: 0.95,
        cost_details: { upstream_inference_cost: 19, upstream_inference_prompt_cost: 3 },
        prompt_tokens: 194,
        prompt_tokens_details: { cached_tokens: 90, cache_write_tokens: 100, audio_tokens: 0, video_tokens: 0 },
        total_tokens: 254,
        server_tool_use: { web_search_requests: 1 },
      },
    },
    {
      inputTokens: 194,
      cachedInputTokens: 90,
      cacheWriteTokens: 100,
      outputTokens: 60,
      reasoningTokens: 10,
      imageOutputTokens: 40,
      searches: 1,
    },
  ],
  [
    'Bedrock, with the cache beside and by lifetime (API_runtime_TokenUsage)',
    openaiChat,
    {
      usage: {
        inputTokens: 43,
        outputTokens: 44,
        cacheReadInputTokens: 100,
        cacheWriteInputTokens: 101,
        cacheDetails: [
          { ttl: '1h', inputTokens: 60 },
          { ttl: '5m', inputTokens: 41 },
        ],
        totalTokens: 288,
      },
    },
    {
      inputTokens: 244,
      cachedInputTokens: 100,
      cacheWriteTokens: 101,
      cacheWrite1hTokens: 60,
      outputTokens: 44,
    },
  ],
  [
    'LiteLLM, with the cache of Claude inside in two spellings (docs.litellm.ai/docs/completion/prompt_caching)',
    openaiChat,
    {
      usage: {
        prompt_tokens: 2006,
        completion_tokens: 300,
        total_tokens: 2306,
        prompt_tokens_details: { cached_tokens: 1920, cache_creation_tokens: 50 },
        cache_creation_input_tokens: 50,
        cache_read_input_tokens: 1920,
      },
    },
    { inputTokens: 2006, cachedInputTokens: 1920, cacheWriteTokens: 50, outputTokens: 300 },
  ],
  [
    'vLLM, with an absent cache (docs.vllm.ai)',
    openaiChat,
    { usage: { prompt_tokens: 8, total_tokens: 15, completion_tokens: 7, prompt_tokens_details: null } },
    { inputTokens: 8, outputTokens: 7 },
  ],
  [
    'SGLang, with reasoning at the top (docs.sglang.ai)',
    openaiChat,
    {
      usage: {
        prompt_tokens: 14,
        total_tokens: 90,
        completion_tokens: 76,
        prompt_tokens_details: { cached_tokens: 4 },
        reasoning_tokens: 40,
      },
    },
    { inputTokens: 14, cachedInputTokens: 4, outputTokens: 76, reasoningTokens: 40 },
  ],
];
