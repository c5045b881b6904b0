import { encodeOpenaiFault, readOpenaiUsage } from './openai-usage.ts';
import { inputTokensMax, readList, readObject, outputTokensMax } from './quantities.ts';
import { quoteWords } from './protocol.ts';
import type { Protocol } from './protocol.ts';

export const openaiChat: Protocol = {
  name: 'openai-chat',
  isStream: ({ json }) => json?.['stream'] === true,
  priceFacts: (content) => ({
    inputTokens: inputTokensMax(content),
    ...outputTokensMax(content.json?.['max_completion_tokens'] ?? content.json?.['max_tokens'], content.json?.['n']),
  }),
  usageIn: readOpenaiUsage,
  usageMembers: ['usage'],
  readsOnlyUsage: true,
  stream: {
    usageMarks: quoteWords('usage'),
    usageAfter: (event, before) => readOpenaiUsage(event) ?? before,
    textNames: quoteWords('content', 'reasoning_content', 'arguments', 'refusal'),
    faultFrame: (fault) => `data: ${encodeOpenaiFault(fault)}\n\n`,
    askUsage: (json) => {
      const options = readObject(json, 'stream_options');
      return options['include_usage'] === true
        ? undefined
        : { name: 'stream_options', valueJson: JSON.stringify({ ...options, include_usage: true }) };
    },
    isOnlyUsage: (event) =>
      Array.isArray(event['choices']) &&
      readList(event, 'choices').length === 0 &&
      readOpenaiUsage(event) !== undefined,
  },
};
