import { openaiFault, openaiUsage } from './openai-usage.ts';
import { inputTokensBound, listIn, objectIn, outputTokensBound } from './quantities.ts';
import { wordsInBytes } from './protocol.ts';
import type { Protocol } from './protocol.ts';

export const openaiChat: Protocol = {
  name: 'openai-chat',
  isStream: ({ json }) => json?.['stream'] === true,
  bound: (content) => ({
    inputTokens: inputTokensBound(content),
    ...outputTokensBound(content.json?.['max_completion_tokens'] ?? content.json?.['max_tokens'], content.json?.['n']),
  }),
  usageIn: openaiUsage,
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
