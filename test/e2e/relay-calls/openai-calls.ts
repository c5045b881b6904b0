import OpenAI, { toFile } from 'openai';
import { PIXEL, SOUND } from '../../harness/relay-upstream/openai.ts';
import { collected } from './sdk-call.ts';
import type { SdkCall, Target } from './sdk-call.ts';

export const openaiClient = ({ base, key }: Target, more: object = {}): OpenAI =>
  new OpenAI({ apiKey: key, baseURL: `${base}/v1`, maxRetries: 0, ...more });

const call = (
  name: string,
  run: (client: OpenAI, model: string, text: string) => Promise<unknown>,
  more: Partial<SdkCall> = {},
): SdkCall => ({
  name: `openai ${name}`,
  run: (target, text) => run(openaiClient(target), target.model, text),
  ...more,
});

const user = (content: string) => [{ role: 'user' as const, content }];
const image = () => toFile(Buffer.from(PIXEL, 'base64'), 'pixel.png', { type: 'image/png' });
const sound = () => toFile(SOUND, 'sound.mp3', { type: 'audio/mpeg' });
const tool = {
  type: 'function' as const,
  function: {
    name: 'look_up',
    description: 'Ünïcödé ✓ "quoted" \\ back',
    parameters: { type: 'object', properties: { model: { type: 'string' } } },
  },
};

export const openaiCalls: readonly SdkCall[] = [
  call('chat.completions.create', (client, model, text) =>
    client.chat.completions.create({ model, messages: user(text) }),
  ),
  call('chat.completions.create with tools and odd text', (client, model, text) =>
    client.chat.completions.create({
      messages: user(`${text} {"model":"no"} \u2028 🐢`),
      tools: [tool],
      temperature: 1e-7,
      model,
    }),
  ),
  call(
    'chat.completions.create, streaming',
    async (client, model, text) =>
      collected(await client.chat.completions.create({ model, messages: user(text), stream: true })),
    { asksUsage: true, streams: true },
  ),
  call(
    'chat.completions.create, streaming, usage asked for',
    async (client, model, text) =>
      collected(
        await client.chat.completions.create({
          model,
          messages: user(text),
          stream: true,
          stream_options: { include_usage: true },
        }),
      ),
    { streams: true },
  ),
  call(
    'chat.completions.stream',
    async (client, model, text) =>
      client.chat.completions.stream({ model, messages: user(text) }).finalChatCompletion(),
    { asksUsage: true, streams: true },
  ),
  call('responses.create', (client, model, text) => client.responses.create({ model, input: text })),
  call(
    'responses.create, streaming',
    async (client, model, text) => collected(await client.responses.create({ model, input: text, stream: true })),
    { streams: true },
  ),
  call('responses.stream', (client, model, text) => client.responses.stream({ model, input: text }).finalResponse(), {
    streams: true,
  }),
  call('embeddings.create', (client, model, text) => client.embeddings.create({ model, input: text })),
  call('embeddings.create of many, as numbers', (client, model, text) =>
    client.embeddings.create({ model, input: [text, 'two'], encoding_format: 'float' }),
  ),
  call('images.generate', (client, model, text) => client.images.generate({ model, prompt: text, n: 2 })),
  call('images.generate, as links', (client, model, text) =>
    client.images.generate({ model, prompt: text, response_format: 'url' }),
  ),
  call('images.edit', async (client, model, text) => client.images.edit({ model, prompt: text, image: await image() })),
  call('images.edit of several', async (client, model, text) =>
    client.images.edit({ model, prompt: text, image: [await image(), await image()] }),
  ),
  call('audio.speech.create', async (client, model, text) => {
    const answer = await client.audio.speech.create({ model, input: text, voice: 'alloy' });
    return {
      type: answer.headers.get('content-type'),
      bytes: Buffer.from(await answer.arrayBuffer()).toString('base64'),
    };
  }),
  call('audio.transcriptions.create', async (client, model, text) =>
    client.audio.transcriptions.create({ model, file: await sound(), prompt: text }),
  ),
  call('audio.transcriptions.create, as text', async (client, model, text) =>
    client.audio.transcriptions.create({ model, file: await sound(), prompt: text, response_format: 'text' }),
  ),
  call(
    'audio.transcriptions.create, streaming',
    async (client, model, text) =>
      collected(await client.audio.transcriptions.create({ model, file: await sound(), prompt: text, stream: true })),
    { streams: true },
  ),
  call('audio.translations.create', async (client, model, text) =>
    client.audio.translations.create({ model, file: await sound(), prompt: text }),
  ),
];
