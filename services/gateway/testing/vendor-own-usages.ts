import { openaiChat } from '../src/relay/protocols/openai.ts';
import type { VendorUsage } from './vendor-text-usages.ts';

/** Usage in the spellings of interfaces of the vendors' own, as relays of them pass it on. */
export const OWN_USAGES: readonly VendorUsage[] = [
  [
    'xAI in the spelling of its own interface (docs.x.ai, SamplingUsage)',
    openaiChat,
    {
      usage: {
        completion_tokens: 40,
        reasoning_tokens: 25,
        prompt_tokens: 100,
        total_tokens: 165,
        prompt_text_tokens: 80,
        cached_prompt_text_tokens: 60,
        prompt_image_tokens: 20,
        num_sources_used: 2,
      },
    },
    {
      inputTokens: 100,
      cachedInputTokens: 60,
      imageInputTokens: 20,
      outputTokens: 65,
      reasoningTokens: 25,
      searches: 2,
    },
  ],
  [
    'Alibaba in the spelling of its own interface, with a search (alibabacloud.com/help/en/model-studio/qwen-api-reference)',
    openaiChat,
    {
      usage: {
        input_tokens: 1295,
        output_tokens: 129,
        total_tokens: 1424,
        image_tokens: 1270,
        input_tokens_details: { text_tokens: 25, image_tokens: 1270 },
        output_tokens_details: { text_tokens: 129, reasoning_tokens: 30 },
        prompt_tokens_details: { cached_tokens: 20 },
        plugins: { search: { count: 1, strategy: 'turbo' } },
      },
    },
    {
      inputTokens: 1295,
      cachedInputTokens: 20,
      imageInputTokens: 1270,
      outputTokens: 129,
      reasoningTokens: 30,
      searches: 1,
    },
  ],
  [
    'Together (docs.together.ai/reference/chat-completions-1)',
    openaiChat,
    { usage: { prompt_tokens: 15, completion_tokens: 120, total_tokens: 135, cached_tokens: 5 } },
    { inputTokens: 15, cachedInputTokens: 5, outputTokens: 120 },
  ],
  [
    'Cerebras, with times beside (inference-docs.cerebras.ai/api-reference/chat-completions)',
    openaiChat,
    {
      usage: {
        prompt_tokens: 12,
        completion_tokens: 152,
        total_tokens: 164,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { accepted_prediction_tokens: 9, rejected_prediction_tokens: 4 },
      },
      time_info: { queue_time: 0.1, prompt_time: 0.2, completion_time: 0.3, total_time: 0.6, created: 1_700_000_000 },
    },
    { inputTokens: 12, cachedInputTokens: 0, outputTokens: 152 },
  ],
  [
    'Cohere before its second version (docs.cohere.com/v1/reference/chat)',
    openaiChat,
    {
      meta: {
        api_version: { version: '1' },
        billed_units: { input_tokens: 17, output_tokens: 12, search_units: 1 },
        tokens: { input_tokens: 83, output_tokens: 12 },
      },
    },
    { inputTokens: 17, outputTokens: 12, searches: 1 },
  ],
  [
    'Cohere without the billed units',
    openaiChat,
    { meta: { tokens: { input_tokens: 83, output_tokens: 12 } } },
    { inputTokens: 83, outputTokens: 12 },
  ],
  [
    'Ollama in the spelling of its own interface (docs.ollama.com/api)',
    openaiChat,
    {
      done: true,
      total_duration: 5_043_500_667,
      load_duration: 5_025_959,
      prompt_eval_count: 26,
      prompt_eval_duration: 325_953_000,
      eval_count: 290,
      eval_duration: 4_709_213_000,
    },
    { inputTokens: 26, outputTokens: 290 },
  ],
  [
    'MiniMax, whose total is all that it tells (platform.minimax.io/docs/api-reference)',
    openaiChat,
    { usage: { total_tokens: 249 } },
    { inputTokens: 249 },
  ],
  [
    'iFlytek, with its counters under a kind (xfyun.cn/doc/spark/Web.html)',
    openaiChat,
    { usage: { text: { question_tokens: 4, prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 } } },
    { inputTokens: 5, outputTokens: 9 },
  ],
  [
    'Baidu, with plug-ins, whose tokens are in the total (cloud.baidu.com/doc/WENXINWORKSHOP)',
    openaiChat,
    {
      usage: {
        prompt_tokens: 100,
        completion_tokens: 20,
        total_tokens: 120,
        plugins: [{ name: 'search', parse_tokens: 3, abstract_tokens: 4, search_tokens: 50, total_tokens: 57 }],
      },
    },
    { inputTokens: 100, outputTokens: 20 },
  ],
];
