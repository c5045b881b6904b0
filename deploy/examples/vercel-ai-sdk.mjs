// Streams a chat with the Vercel AI SDK.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText } from 'ai';

const { REELGATE_URL = 'http://127.0.0.1:8080', REELGATE_API_KEY, REELGATE_CHAT_MODEL = 'sandbox-chat' } = process.env;
const reelgate = createOpenAICompatible({
  name: 'reelgate',
  baseURL: `${REELGATE_URL}/v1`,
  apiKey: REELGATE_API_KEY,
  includeUsage: true,
});

const answer = streamText({
  model: reelgate(REELGATE_CHAT_MODEL),
  prompt: 'Describe a red boat at dawn in one sentence.',
  onError: ({ error }) => {
    throw error;
  },
});
for await (const part of answer.textStream) process.stdout.write(part);
const { inputTokens, outputTokens } = await answer.usage;
console.log(`\n${inputTokens} tokens read, ${outputTokens} written`);
