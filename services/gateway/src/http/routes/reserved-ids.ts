import { relayEndpoints } from '../../relay/endpoints.ts';
import type { RouteEntry } from './route.ts';

/** Words that SDKs put in the place of an id for things that this service does not have, and `estimate`, which has a route of its own. */
const NO_TASKS: ReadonlySet<string> = new Set(['edits', 'extensions', 'characters', 'estimate']);
/** What is done with a model, such as `:generateContent`, behind its id. */
const VERBS = [...new Set(relayEndpoints.flatMap(({ path }) => /\{model\}(:\w+)$/.exec(path)?.[1] ?? []))];
const TASK = '/v1/videos/{';
const MODEL = '/models/{model}';

/** Whether a path that fits the pattern of a route means something else all the same. */
export function isReservedId({ path }: Pick<RouteEntry, 'path'>, params: Readonly<Record<string, string>>): boolean {
  if (path.startsWith(TASK)) return NO_TASKS.has(params['task_id'] ?? params['video_id'] ?? '');
  return path.endsWith(MODEL) && VERBS.some((verb) => params['model']?.endsWith(verb));
}
