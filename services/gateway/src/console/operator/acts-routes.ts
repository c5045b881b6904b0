import type { ActList } from '../../../console/api/operator-acts.ts';
import type { ReadActs } from '../../clients/acts-client.ts';
import { readIdFilter, readTextFilter } from './read-query.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';

const PAGE = 50;
const SUBJECT_MAX = 256;

/** The routes that list the acts of operators, in both services. */
export function actsRoutes({ acts: readActs }: { readonly acts: ReadActs }): OperatorRouteEntry[] {
  return [
    operatorRoute({
      method: 'GET',
      path: '/acts',
      name: 'listActs',
      role: 'viewer',
      answer: async ({ querystring, state }): Promise<ActList> => {
        const query = new URLSearchParams(querystring);
        const question = {
          limit: PAGE,
          after: readIdFilter(query, 'after'),
          subject: readTextFilter(query, 'subject', SUBJECT_MAX),
        };
        const { acts, hasMore } = await readActs(question, state);
        const last = acts.at(-1);
        return { acts, ...(hasMore && last !== undefined ? { after: last.id } : {}) };
      },
    }),
  ];
}
