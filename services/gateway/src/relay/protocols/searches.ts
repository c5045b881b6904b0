import { readObjects } from './contents.ts';
import type { JsonObject } from './protocol.ts';
import { readList, readObject } from './members.ts';

const SEARCH_CALL = 'web_search_call';

/** Counts the searches among the items of a response. OpenAI bills each, but not the pages that were opened after it. */
export function countSearchCalls(response: JsonObject): number {
  return readObjects(response, 'output').filter((item) => {
    const action = readObject(item, 'action')['type'];
    return item['type'] === SEARCH_CALL && (action === undefined || action === 'search');
  }).length;
}

/** Counts the queries of Google's search. Google bills each once, and does not bill empty ones. */
export function countSearchQueries(answer: JsonObject): number {
  const queries = readObjects(answer, 'candidates').flatMap((candidate) =>
    readList(readObject(candidate, 'groundingMetadata'), 'webSearchQueries'),
  );
  return new Set(queries.filter((query) => typeof query === 'string' && query.trim() !== '')).size;
}
