import { quoteWords } from './protocol.ts';
import type { JsonObject, Protocol, StreamFault, Usage } from './protocol.ts';
import { inputTokensMax, outputTokensMax, pickQuantity, readList, readObject, toUsage } from './quantities.ts';

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

/** The `usage` of OpenAI's routes and of compatible ones: in two spellings, and for audio in seconds. */
export function readOpenaiUsage(holder: JsonObject): Usage | undefined {
  const usage = readObject(holder, 'usage');
  return toUsage({
    inputTokens: pickQuantity(usage['prompt_tokens'], usage['input_tokens'], usage['total_tokens']),
    cachedInputTokens: pickQuantity(
      readObject(usage, 'input_tokens_details')['cached_tokens'],
      readObject(usage, 'prompt_tokens_details')['cached_tokens'],
    ),
    outputTokens: pickQuantity(usage['completion_tokens'], usage['output_tokens']),
    seconds: pickQuantity(usage['seconds']),
  });
}

/** The body of an error as OpenAI's clients read it, also in a stream. */
export function encodeOpenaiFault({ message, code, status }: StreamFault): string {
  return JSON.stringify({
    error: { message, type: status === 429 ? 'rate_limit_error' : 'server_error', param: null, code },
  });
}
