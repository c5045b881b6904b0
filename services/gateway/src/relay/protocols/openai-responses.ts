import { readOpenaiUsage } from './openai-usage.ts';
import { inputTokensMax, readObject, outputTokensMax } from './quantities.ts';
import { quoteWords } from './protocol.ts';
import type { Protocol } from './protocol.ts';

export const openaiResponses: Protocol = {
  name: 'openai-responses',
  isStream: ({ json }) => json?.['stream'] === true,
  priceFacts: (content) => ({
    inputTokens: inputTokensMax(content),
    ...outputTokensMax(content.json?.['max_output_tokens']),
  }),
  usageIn: readOpenaiUsage,
  usageMembers: ['usage'],
  readsOnlyUsage: true,
  stream: {
    // the usage is in the event that ends the response, whatever its type
    usageMarks: quoteWords('response.completed', 'response.incomplete', 'response.failed'),
    usageAfter: (event, before) => readOpenaiUsage(readObject(event, 'response')) ?? before,
    textNames: quoteWords('delta'),
    faultFrame: ({ message, code }) =>
      `event: error\ndata: ${JSON.stringify({ type: 'error', code, message, param: null })}\n\n`,
  },
};
