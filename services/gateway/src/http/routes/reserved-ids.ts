import { relayEndpoints } from '../../relay/endpoints.ts';
import type { RouteEntry } from './route.ts';

/** Words that never are task ids: SDKs use them for features that this service lacks; `estimate` has its own route. */
const NOT_TASK_IDS: ReadonlySet<string> = new Set(['edits', 'extensions', 'characters', 'estimate']);
/** Actions on a model, such as `:generateContent`, which follow its id. */
const MODEL_ACTIONS = [...new Set(relayEndpoints.flatMap(({ path }) => /\{model\}(:\w+)$/.exec(path)?.[1] ?? []))];
const TASK = '/v1/videos/{';
const MODEL = '/models/{model}';

/** Reports whether the id in a path that matches a route is a reserved word, which gives the path another meaning. */
export function isReservedId({ path }: RouteEntry, params: Readonly<Record<string, string>>): boolean {
  if (path.startsWith(TASK)) return NOT_TASK_IDS.has(params['task_id'] ?? params['video_id'] ?? '');
  return path.endsWith(MODEL) && MODEL_ACTIONS.some((action) => params['model']?.endsWith(action));
}
