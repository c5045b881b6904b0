import { inputTokensMax, outputTokensMax, searchesMax, countSearchQueries } from './quantities.ts';
import { readObject } from './members.ts';
import { contentDelivery } from './delivery.ts';
import { quoteWord, quoteWords } from './mentions.ts';
import { USAGE_MARKS } from './protocol.ts';
import type { Protocol, StreamFault } from './protocol.ts';
import { resolveUsage } from './resolve-usage.ts';
import { generateState } from './state.ts';
import { raiseCounters, raiseSearches, readCounters } from './usage-counters.ts';

const STATUS: Readonly<Record<number, string>> = {
  429: 'RESOURCE_EXHAUSTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

function encodeGoogleFault({ message, status }: StreamFault): string {
  return JSON.stringify({ error: { code: status, message, status: STATUS[status] ?? 'INTERNAL' } });
}

export const googleGenerate: Protocol = {
  name: 'google-generate',
  isStream: ({ path }) => path.endsWith(':streamGenerateContent'),
  priceFacts: (content) => {
    const settings = readObject(content.json, 'generationConfig');
    return {
      inputTokens: inputTokensMax(content),
      searches: searchesMax(content),
      ...outputTokensMax(settings['maxOutputTokens'], settings['candidateCount']),
    };
  },
  usageIn: (answer) => resolveUsage(raiseSearches(readCounters(answer), countSearchQueries(answer))),
  searchMark: quoteWord('webSearchQueries'),
  delivery: contentDelivery,
  state: generateState,
  faultBody: encodeGoogleFault,
  stream: {
    usageMarks: USAGE_MARKS,
    countersAfter: (event, before) => raiseSearches(raiseCounters(event, before), countSearchQueries(event)),
    textNames: quoteWords('text'),
    faultFrame: (fault) => `data: ${encodeGoogleFault(fault)}\n\n`,
    streamsLists: true,
  },
};
