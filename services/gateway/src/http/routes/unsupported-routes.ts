import { Problem } from '@reelgate/platform/problem';
import type { RouteEntry } from './route.ts';

/** Known routes that are not implemented. Every method, and every path below, gets the same answer. */
const UNSUPPORTED: readonly (readonly [path: string, operationId: string])[] = [
  ['/v1/files', 'Files'],
  ['/v1/images/variations', 'ImageVariations'],
  ['/v1/fine-tunes', 'FineTunes'],
  ['/v1/fine_tuning', 'FineTuning'],
];

export function notImplementedRoutes(): RouteEntry[] {
  return UNSUPPORTED.flatMap(([path, operationId]) => [
    entry(path, operationId),
    entry(`${path}/{+rest}`, `${operationId}Below`),
  ]);
}

function entry(path: string, operationId: string): RouteEntry {
  return {
    kind: 'unsupported',
    methods: 'all',
    path,
    token: { counts: 'reads' },
    handle: () => {
      throw new Problem({
        kind: 'unavailable',
        reason: 'api_not_implemented',
        message:
          'this route is not implemented; ' +
          'send a file to the route that uses it, as a URL, base64, a data URL or a form',
      });
    },
    doc: {
      tag: 'Not implemented',
      operationId: `unsupported${operationId}`,
      summary: 'Not implemented; always answers 501',
      answers: {},
      refuses: [501],
    },
  };
}
