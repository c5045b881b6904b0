import { openaiUsage } from './openai-usage.ts';
import { inputTokensMax, objectIn, outputTokensMax } from './quantities.ts';
import { wordsInBytes } from './protocol.ts';
import type { Protocol } from './protocol.ts';

export const openaiResponses: Protocol = {
  name: 'openai-responses',
  isStream: ({ json }) => json?.['stream'] === true,
  priceFacts: (content) => ({
    inputTokens: inputTokensMax(content),
    ...outputTokensMax(content.json?.['max_output_tokens']),
  }),
  usageIn: openaiUsage,
  usageMembers: ['usage'],
  readsOnlyUsage: true,
  stream: {
    // the usage is in the event that ends the response, whatever its type
    usageMarks: wordsInBytes('response.completed', 'response.incomplete', 'response.failed'),
    usageAfter: (event, before) => openaiUsage(objectIn(event, 'response')) ?? before,
    textNames: wordsInBytes('delta'),
    faultFrame: ({ message, code }) =>
      `event: error\ndata: ${JSON.stringify({ type: 'error', code, message, param: null })}\n\n`,
  },
};
