import Anthropic from '@anthropic-ai/sdk';
import { collected } from './sdk-call.ts';
import type { SdkCall, Target } from './sdk-call.ts';

export const anthropicClient = ({ base, key }: Target, more: object = {}): Anthropic =>
  new Anthropic({ apiKey: null, authToken: key, baseURL: base, maxRetries: 0, ...more });

const call = (
  name: string,
  run: (client: Anthropic, model: string, text: string) => Promise<unknown>,
  more: Partial<SdkCall> = {},
): SdkCall => ({
  name: `anthropic ${name}`,
  run: (target, text) => run(anthropicClient(target), target.model, text),
  ...more,
});

const body = (model: string, content: string) => ({
  model,
  max_tokens: 100,
  messages: [{ role: 'user' as const, content }],
});

export const anthropicCalls: readonly SdkCall[] = [
  call('messages.create', (client, model, text) => client.messages.create(body(model, text))),
  call(
    'messages.create, streaming',
    async (client, model, text) => collected(await client.messages.create({ ...body(model, text), stream: true })),
    { streams: true },
  ),
  call('messages.stream', (client, model, text) => client.messages.stream(body(model, text)).finalMessage(), {
    streams: true,
  }),
  call('messages.countTokens', (client, model, text) =>
    client.messages.countTokens({ model, messages: [{ role: 'user', content: text }] }),
  ),
];
