import { inputTokensMax, objectIn, outputTokensMax, quantityOf, sumOf, usageOf } from './quantities.ts';
import { wordsInBytes } from './protocol.ts';
import type { JsonObject, Protocol, Usage } from './protocol.ts';

const OVERLOADED = 529;

/** Anthropic's `input_tokens` exclude the tokens that were written to the cache or read from it. */
function anthropicUsage(holder: JsonObject): Usage | undefined {
  const usage = objectIn(holder, 'usage');
  return usageOf({
    inputTokens:
      quantityOf(usage['input_tokens']) === undefined
        ? undefined
        : sumOf(usage['input_tokens'], usage['cache_creation_input_tokens'], usage['cache_read_input_tokens']),
    cachedInputTokens: quantityOf(usage['cache_read_input_tokens']),
    outputTokens: quantityOf(usage['output_tokens']),
  });
}

export const anthropicMessages: Protocol = {
  name: 'anthropic-messages',
  isStream: ({ json }) => json?.['stream'] === true,
  priceFacts: (content) => ({ inputTokens: inputTokensMax(content), ...outputTokensMax(content.json?.['max_tokens']) }),
  usageIn: anthropicUsage,
  usageMembers: ['usage'],
  readsOnlyUsage: true,
  stream: {
    usageMarks: wordsInBytes('message_start', 'message_delta'),
    // the first event has the input, the last one the output; some upstreams repeat the input in the last one
    usageAfter: (event, before) => ({
      ...before,
      ...anthropicUsage(objectIn(event, 'message')),
      ...anthropicUsage(event),
    }),
    textNames: wordsInBytes('text', 'thinking', 'partial_json'),
    faultFrame: ({ message, status }) => {
      const type = status === OVERLOADED || status === 503 ? 'overloaded_error' : 'api_error';
      return `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type, message } })}\n\n`;
    },
  },
};

/** Counting generates nothing: it has input tokens, and no output tokens. */
export const anthropicCount: Protocol = {
  ...anthropicMessages,
  name: 'anthropic-count',
  isStream: () => false,
  priceFacts: (content) => ({ inputTokens: inputTokensMax(content), outputTokens: 0 }),
  usageIn: () => undefined,
};
