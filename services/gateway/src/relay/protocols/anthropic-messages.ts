import { inputTokensMax, readObject, outputTokensMax, pickQuantity, sumQuantities, toUsage } from './quantities.ts';
import { quoteWords } from './protocol.ts';
import type { JsonObject, Protocol, Usage } from './protocol.ts';

const OVERLOADED = 529;

/** Anthropic's `input_tokens` exclude the tokens that were written to the cache or read from it. */
function readAnthropicUsage(holder: JsonObject): Usage | undefined {
  const usage = readObject(holder, 'usage');
  return toUsage({
    inputTokens:
      pickQuantity(usage['input_tokens']) === undefined
        ? undefined
        : sumQuantities(usage['input_tokens'], usage['cache_creation_input_tokens'], usage['cache_read_input_tokens']),
    cachedInputTokens: pickQuantity(usage['cache_read_input_tokens']),
    outputTokens: pickQuantity(usage['output_tokens']),
  });
}

export const anthropicMessages: Protocol = {
  name: 'anthropic-messages',
  isStream: ({ json }) => json?.['stream'] === true,
  priceFacts: (content) => ({ inputTokens: inputTokensMax(content), ...outputTokensMax(content.json?.['max_tokens']) }),
  usageIn: readAnthropicUsage,
  usageMembers: ['usage'],
  readsOnlyUsage: true,
  stream: {
    usageMarks: quoteWords('message_start', 'message_delta'),
    // the first event has the input, the last one the output; some upstreams repeat the input in the last one
    usageAfter: (event, before) => ({
      ...before,
      ...readAnthropicUsage(readObject(event, 'message')),
      ...readAnthropicUsage(event),
    }),
    textNames: quoteWords('text', 'thinking', 'partial_json'),
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
