import { chatDelivery, responsesDelivery } from './delivery.ts';
import { quoteWord, quoteWords } from './mentions.ts';
import { USAGE_MARKS } from './protocol.ts';
import type { Protocol, StreamFault } from './protocol.ts';
import { inputTokensMax, outputTokensMax, searchesMax, countSearchCalls } from './quantities.ts';
import { readList, readObject } from './members.ts';
import { readAnswerUsage, resolveUsage } from './resolve-usage.ts';
import { chatState, responsesState } from './state.ts';
import { raiseCounters, raiseSearches, readCounters } from './usage-counters.ts';

export const openaiChat: Protocol = {
  name: 'openai-chat',
  isStream: ({ json }) => json?.['stream'] === true,
  priceFacts: (content) => ({
    inputTokens: inputTokensMax(content),
    searches: searchesMax(content),
    ...outputTokensMax(content.json?.['max_completion_tokens'] ?? content.json?.['max_tokens'], content.json?.['n']),
  }),
  usageIn: readAnswerUsage,
  readsOnlyUsage: true,
  delivery: chatDelivery,
  state: chatState,
  faultBody: encodeOpenaiFault,
  stream: {
    usageMarks: USAGE_MARKS,
    countersAfter: raiseCounters,
    textNames: quoteWords('content', 'reasoning_content', 'arguments', 'refusal'),
    faultFrame: (fault) => `data: ${encodeOpenaiFault(fault)}\n\n`,
    askUsage: (json) => {
      const options = readObject(json, 'stream_options');
      return options['include_usage'] === true
        ? undefined
        : { name: 'stream_options', valueJson: JSON.stringify({ ...options, include_usage: true }) };
    },
    usageRefusal: /stream[_ -]?options|include[_ -]?usage/i,
    isOnlyUsage: (event) =>
      event['error'] === undefined &&
      readList(event, 'choices').length === 0 &&
      ((event['usage'] ?? null) !== null || readCounters(event) !== undefined),
  },
};

export const openaiResponses: Protocol = {
  name: 'openai-responses',
  isStream: ({ json }) => json?.['stream'] === true,
  priceFacts: (content) => ({
    inputTokens: inputTokensMax(content),
    searches: searchesMax(content),
    ...outputTokensMax(content.json?.['max_output_tokens']),
  }),
  usageIn: (answer) => resolveUsage(raiseSearches(readCounters(answer), countSearchCalls(answer))),
  readsOnlyUsage: true,
  searchMark: quoteWord('web_search_call'),
  delivery: responsesDelivery,
  state: responsesState,
  faultBody: encodeOpenaiFault,
  stream: {
    // the event that ends the response has the usage, whatever its type
    usageMarks: quoteWords('response.completed', 'response.incomplete', 'response.failed'),
    countersAfter: (event, before) =>
      raiseSearches(raiseCounters(event, before), countSearchCalls(readObject(event, 'response'))),
    textNames: quoteWords('delta'),
    faultFrame: ({ message, code }) =>
      `event: error\ndata: ${JSON.stringify({ type: 'error', code, message, param: null })}\n\n`,
  },
};

/** The body of an error as OpenAI's clients read it, also in a stream. */
export function encodeOpenaiFault({ message, code, status }: StreamFault): string {
  return JSON.stringify({
    error: { message, type: status === 429 ? 'rate_limit_error' : 'server_error', param: null, code },
  });
}
