import type { FindOutcome, Json, LostAttempt, Steps } from '@reelgate/adapter-kit';
import { hashKey, readId, readList, readObject, readText } from '@reelgate/adapter-kit/kit';
import { listEndpoints, readApp } from './fal.models.ts';
import type { FalModel } from './fal.models.ts';

export const PLATFORM = 'platform';
export const REQUESTS = '/v1/models/requests/by-endpoint';
const PAGE = 100;
const PAGES_MAX = 20;
/** The clock of the upstream can be behind ours. */
const CLOCK_SLACK_MS = 60_000;

/**
 * The seed of an attempt, from 0 to 2^31 - 1. No seed at all is a random one at the upstream, so any seed does. The
 * same endpoint has no other work with it in the time of a search, but for one chance in two thousand million.
 */
export const toSeed = hashKey;

/**
 * Searches the history of the account for the input with the seed of the attempt. It is not known whether waiting work
 * is in the history, so an attempt that is not there may have arrived. An attempt without our seed cannot be found: its
 * endpoint has no seed, or the client chose the seed.
 */
export function* findBySeed(
  models: Readonly<Record<string, FalModel>>,
  { key, model, startedAt }: LostAttempt,
): Steps<FindOutcome> {
  const known = models[model] ?? {};
  const endpoints = listEndpoints(known).filter(({ extra }) => extra?.includes('seed') === true);
  const app = readApp(model);
  if (endpoints.length === 0 || app === undefined)
    return { outcome: 'cannot know', why: `the model ${model} takes no seed to find work by` };
  const ids = encodeURIComponent(endpoints.map(({ path }) => (known.base ?? model) + path).join(','));
  const start = encodeURIComponent(new Date(startedAt - CLOCK_SLACK_MS).toISOString());
  const first = `${REQUESTS}?endpoint_id=${ids}&start=${start}&expand=payloads&limit=${PAGE}`;
  const found = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const path: string = cursor === undefined ? first : `${first}&cursor=${encodeURIComponent(cursor)}`;
    const { status, body } = yield { method: 'GET', path, host: PLATFORM };
    const { items, next_cursor: next, has_more: hasMore } = readObject(body);
    if (status !== 200 || !Array.isArray(items))
      return { outcome: 'cannot know', why: `the history of requests cannot be read: HTTP ${status}` };
    for (const id of readIdsWithSeed(items, toSeed(key))) found.add(id);
    cursor = hasMore === true ? readText(next) : undefined;
    if (cursor === undefined) return toFound(app, found);
  }
  return { outcome: 'cannot know', why: 'the history of requests is too long' };
}

function readIdsWithSeed(items: unknown, seed: number): readonly string[] {
  return readList(items)
    .map(readObject)
    .filter(({ json_input: input }: Json) => readObject(input)['seed'] === seed)
    .flatMap(({ request_id: id }) => readId(id) ?? []);
}

function toFound(app: string, ids: ReadonlySet<string>): FindOutcome {
  const [id, second] = ids;
  if (id === undefined) return { outcome: 'cannot know', why: 'the history of requests does not hold the attempt' };
  return second === undefined
    ? { outcome: 'accepted', upstreamId: `${app}/${id}` }
    : { outcome: 'cannot know', why: 'more than one request has the seed of the attempt' };
}
