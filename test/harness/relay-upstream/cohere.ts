import { errorText, RELAY_KEYS } from './identities.ts';
import { json } from './reply.ts';
import type { Answer, Vendor } from './reply.ts';

export const cohere: Vendor = {
  error: (_status, { model, channel }) => ({ id: 'c-1', message: errorText(model, RELAY_KEYS[channel] ?? '') }),
  errorFrame: () => '',
};

/** Ranks the last document first. */
export const rerank: Answer = (asked) => {
  const documents = (asked.json?.documents ?? []) as unknown[];
  const results = documents
    .map((_, index) => ({ index, relevance_score: (index + 1) / (documents.length + 1) }))
    .toReversed()
    .slice(0, asked.json?.top_n ?? documents.length);
  return json({ id: 'rerank-1', results, meta: { api_version: { version: '1' }, billed_units: { search_units: 1 } } });
};
