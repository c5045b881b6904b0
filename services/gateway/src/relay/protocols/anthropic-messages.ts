import { inputTokensMax, outputTokensMax, searchesMax } from './quantities.ts';
import { countDelivery, messagesDelivery } from './delivery.ts';
import { quoteWords } from './mentions.ts';
import type { Protocol, StreamFault } from './protocol.ts';
import { readAnswerUsage } from './resolve-usage.ts';
import { messagesState } from './state.ts';
import { raiseCounters } from './usage-counters.ts';

const OVERLOADED = 529;

function encodeAnthropicFault({ message, status }: StreamFault): string {
  const type = status === OVERLOADED || status === 503 ? 'overloaded_error' : 'api_error';
  return JSON.stringify({ type: 'error', error: { type, message } });
}

export const anthropicMessages: Protocol = {
  name: 'anthropic-messages',
  isStream: ({ json }) => json?.['stream'] === true,
  priceFacts: (content) => ({
    inputTokens: inputTokensMax(content),
    searches: searchesMax(content),
    ...outputTokensMax(content.json?.['max_tokens']),
  }),
  usageIn: readAnswerUsage,
  readsOnlyUsage: true,
  delivery: messagesDelivery,
  state: messagesState,
  faultBody: encodeAnthropicFault,
  stream: {
    usageMarks: quoteWords('message_start', 'message_delta'),
    // the first event has the input, the last one the output, and some upstreams repeat a lower input there
    countersAfter: raiseCounters,
    textNames: quoteWords('text', 'thinking', 'partial_json'),
    faultFrame: (fault) => `event: error\ndata: ${encodeAnthropicFault(fault)}\n\n`,
  },
};

/** A count has input tokens, and no output tokens. */
export const anthropicCount: Protocol = {
  ...anthropicMessages,
  name: 'anthropic-count',
  delivery: countDelivery,
  isStream: () => false,
  priceFacts: (content) => ({ inputTokens: inputTokensMax(content), outputTokens: 0 }),
  usageIn: () => undefined,
};
