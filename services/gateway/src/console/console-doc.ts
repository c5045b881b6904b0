import type { RouteDoc } from '../http/routes/route.ts';

/** The routes of the console serve its pages alone, so the OpenAPI document leaves them out. */
export function consoleDoc(operationId: string, summary: string): RouteDoc {
  return { tag: 'Console', operationId, summary, answers: {} };
}
