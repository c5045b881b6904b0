import { embeddings, images, rerank, speech, transcription } from '../src/relay/protocols/plain.ts';
import type { VendorUsage } from './vendor-text-usages.ts';

/** The answers of routes that do not write text. The request has two characters. */
export const OTHER_USAGES: readonly VendorUsage[] = [
  [
    'OpenAI, embeddings',
    embeddings,
    { usage: { prompt_tokens: 8, total_tokens: 8 } },
    { inputTokens: 8, outputTokens: 0 },
  ],
  [
    'Voyage, embeddings (docs.voyageai.com/reference)',
    embeddings,
    { usage: { total_tokens: 10 } },
    { inputTokens: 10, outputTokens: 0 },
  ],
  [
    'Voyage, embeddings of pictures, whose pixels are no tokens',
    embeddings,
    { usage: { text_tokens: 5, image_pixels: 2_000_000, total_tokens: 3576 } },
    { inputTokens: 3576, outputTokens: 0 },
  ],
  [
    'Cohere, embeddings (docs.cohere.com/reference/embed)',
    embeddings,
    { meta: { api_version: { version: '2' }, billed_units: { input_tokens: 2 } } },
    { inputTokens: 2, outputTokens: 0 },
  ],
  [
    'Google, embeddings',
    embeddings,
    { usageMetadata: { promptTokenCount: 6, totalTokenCount: 6 } },
    { inputTokens: 6, outputTokens: 0 },
  ],
  [
    'MiniMax, embeddings, with the total beside the vectors',
    embeddings,
    { vectors: [[0.1]], total_tokens: 5, base_resp: { status_code: 0, status_msg: 'success' } },
    { inputTokens: 5, outputTokens: 0 },
  ],
  [
    'Ollama, embeddings',
    embeddings,
    { embeddings: [[0.1]], total_duration: 14_143_917, load_duration: 1_019_500, prompt_eval_count: 8 },
    { inputTokens: 8, outputTokens: 0 },
  ],
  [
    'Cohere, rerank (docs.cohere.com/reference/rerank)',
    rerank,
    { meta: { billed_units: { search_units: 2 } } },
    { outputTokens: 0, searches: 2 },
  ],
  ['Jina, rerank (api.jina.ai)', rerank, { usage: { total_tokens: 815 } }, { inputTokens: 815, outputTokens: 0 }],
  [
    'OpenAI, images (platform.openai.com/docs/api-reference/images/object)',
    images,
    {
      data: [{ b64_json: 'AAAA' }],
      usage: {
        total_tokens: 4260,
        input_tokens: 100,
        output_tokens: 4160,
        input_tokens_details: { text_tokens: 10, image_tokens: 90, cached_tokens_details: { image_tokens: 40 } },
        output_tokens_details: { image_tokens: 4160, text_tokens: 0 },
      },
    },
    {
      images: 1,
      inputTokens: 100,
      outputTokens: 4160,
      imageInputTokens: 90,
      cachedImageTokens: 40,
      imageOutputTokens: 4160,
    },
  ],
  [
    'Volcengine, images, with the tokens in two spellings (a recorded answer)',
    images,
    {
      data: [{ b64_json: 'AAAA' }],
      usage: {
        prompt_tokens: 0,
        completion_tokens: 0,
        total_tokens: 15_908,
        prompt_tokens_details: { cached_tokens_details: {} },
        completion_tokens_details: {},
        output_tokens: 15_908,
      },
    },
    { images: 1, inputTokens: 0, outputTokens: 15_908 },
  ],
  [
    'OpenAI, a transcription by tokens (platform.openai.com/docs/api-reference/audio/json-object)',
    transcription,
    {
      text: 'x',
      usage: {
        type: 'tokens',
        input_tokens: 14,
        input_token_details: { text_tokens: 0, audio_tokens: 14 },
        output_tokens: 101,
        total_tokens: 115,
      },
    },
    { inputTokens: 14, audioInputTokens: 14, outputTokens: 101 },
  ],
  [
    'OpenAI, a transcription by its duration',
    transcription,
    { text: 'x', usage: { type: 'duration', seconds: 6.2 } },
    { seconds: 7 },
  ],
  [
    'Mistral, a transcription, whose total has the sound that is billed by the second (docs.mistral.ai/capabilities/audio)',
    transcription,
    { text: 'x', usage: { prompt_audio_seconds: 203, prompt_tokens: 4, completion_tokens: 635, total_tokens: 3264 } },
    { inputTokens: 4, outputTokens: 635, seconds: 203 },
  ],
  [
    'OpenAI, speech, beside the characters of the request',
    speech,
    { type: 'speech.audio.done', usage: { input_tokens: 14, output_tokens: 101, total_tokens: 115 } },
    { characters: 2, inputTokens: 14, outputTokens: 101 },
  ],
  [
    'Alibaba, speech, which counts characters in its own way',
    speech,
    { usage: { characters: 15 } },
    { characters: 15 },
  ],
];
