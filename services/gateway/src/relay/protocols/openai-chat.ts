import { openaiFault, openaiUsage } from './openai-usage.ts';
import { inputTokensMax, listIn, objectIn, outputTokensMax } from './quantities.ts';
import { wordsInBytes } from './protocol.ts';
import type { Protocol } from './protocol.ts';

export const openaiChat: Protocol = {
  name: 'openai-chat',
  isStream: ({ json }) => json?.['stream'] === true,
  priceFacts: (content) => ({
    inputTokens: inputTokensMax(content),
    ...outputTokensMax(content.json?.['max_completion_tokens'] ?? content.json?.['max_tokens'], content.json?.['n']),
  }),
  usageIn: openaiUsage,
  usageMembers: ['usage'],
  readsOnlyUsage: true,
  stream: {
    usageMarks: wordsInBytes('usage'),
    usageAfter: (event, before) => openaiUsage(event) ?? before,
    textNames: wordsInBytes('content', 'reasoning_content', 'arguments', 'refusal'),
    faultFrame: (fault) => `data: ${openaiFault(fault)}\n\n`,
    askUsage: (json) => {
      const options = objectIn(json, 'stream_options');
      return options['include_usage'] === true
        ? undefined
        : { name: 'stream_options', valueJson: JSON.stringify({ ...options, include_usage: true }) };
    },
    isOnlyUsage: (event) =>
      Array.isArray(event['choices']) && listIn(event, 'choices').length === 0 && openaiUsage(event) !== undefined,
  },
};
