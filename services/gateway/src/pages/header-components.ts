import { RESPONSE_HEADERS } from '../http/response-headers.ts';
import type { ResponseHeader } from '../http/response-headers.ts';
import { toComponentName } from './share-components.ts';

export const headerComponents: Readonly<Record<string, object>> = Object.fromEntries(
  Object.entries(RESPONSE_HEADERS).map(([name, header]) => [toComponentName(name), header]),
);

export function buildHeaderRefs(names: readonly ResponseHeader[]): object {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${toComponentName(name)}` }]));
}
