import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { embed, embedMany, generateImage, generateSpeech, generateText, streamText, transcribe } from 'ai';
import type { EmbeddingModel, ImageModel, LanguageModel } from 'ai';
import { SOUND } from '../../harness/relay-upstream/openai.ts';
import { collected } from './sdk-call.ts';
import type { SdkCall, Target } from './sdk-call.ts';

const maxRetries = 0;
const openai = ({ base, key }: Target) => createOpenAI({ baseURL: `${base}/v1`, apiKey: key });
const compatible = ({ base, key }: Target) =>
  createOpenAICompatible({ name: 'site', baseURL: `${base}/v1`, apiKey: key, includeUsage: true });

const generate = async (model: LanguageModel, prompt: string): Promise<unknown> => {
  const { text, usage, finishReason } = await generateText({ model, prompt, maxRetries });
  return { text, usage, finishReason };
};
/** Throws a fault within the stream, as a caller does in `onError`. */
const stream = async (model: LanguageModel, prompt: string): Promise<unknown> => {
  const faults: unknown[] = [];
  const result = streamText({ model, prompt, maxRetries, onError: ({ error }) => void faults.push(error) });
  const pieces = await collected(result.textStream);
  if (faults.length > 0) throw faults[0];
  return { pieces, usage: await result.usage, finishReason: await result.finishReason };
};
const vector = async (model: EmbeddingModel, value: string): Promise<unknown> => {
  const { embedding, usage } = await embed({ model, value, maxRetries });
  return { embedding, usage };
};
const picture = async (model: ImageModel, prompt: string): Promise<unknown> =>
  (await generateImage({ model, prompt, maxRetries })).images.map(({ base64 }) => base64);

const call = (name: string, run: SdkCall['run'], more: Partial<SdkCall> = {}): SdkCall => ({
  name: `ai ${name}`,
  run,
  ...more,
});

export const aiCalls: readonly SdkCall[] = [
  call('openai-compatible generateText', (target, text) => generate(compatible(target)(target.model), text)),
  call('openai-compatible streamText', (target, text) => stream(compatible(target)(target.model), text), {
    streams: true,
  }),
  call('openai-compatible embed', (target, text) => vector(compatible(target).embeddingModel(target.model), text)),
  call(
    'openai-compatible embedMany',
    async (target, text) =>
      (await embedMany({ model: compatible(target).embeddingModel(target.model), values: [text, 'two'], maxRetries }))
        .embeddings,
  ),
  call('openai-compatible generateImage', (target, text) => picture(compatible(target).imageModel(target.model), text)),
  call('openai generateText', (target, text) => generate(openai(target)(target.model), text)),
  call('openai streamText', (target, text) => stream(openai(target)(target.model), text), { streams: true }),
  call('openai generateText by chat', (target, text) => generate(openai(target).chat(target.model), text)),
  call('openai streamText by chat', (target, text) => stream(openai(target).chat(target.model), text), {
    streams: true,
  }),
  call('openai embed', (target, text) => vector(openai(target).embedding(target.model), text)),
  call('openai generateImage', (target, text) => picture(openai(target).image(target.model), text)),
  call(
    'openai generateSpeech',
    async (target, text) =>
      (await generateSpeech({ model: openai(target).speech(target.model), text, maxRetries })).audio.base64,
  ),
  call(
    'openai transcribe',
    async (target, text) =>
      (
        await transcribe({
          model: openai(target).transcription(target.model),
          audio: SOUND,
          maxRetries,
          providerOptions: { openai: { prompt: text } },
        })
      ).text,
  ),
];
