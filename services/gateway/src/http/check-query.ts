import { invalid } from '../dialects/wire/body-validator.ts';
import type { Exchange } from './http-exchange.ts';
import type { RouteEntry } from './routes/route.ts';

const SHOWN_CHARACTERS_MAX = 64;

/**
 * Refuses a parameter that a route does not read: at a create, whose fields stand in the body, and at a read that has
 * parameters, such as a list or a statement, which would answer another question. A call that is handed on keeps its
 * query, and other reads ignore theirs.
 */
export function assertKnownQuery({ querystring }: Exchange, { kind, doc }: RouteEntry): void {
  const known = doc.parameters?.map(({ name }) => name) ?? [];
  const isClosed = kind === 'create' ? doc.handsOnQuery !== true : kind === 'read' && known.length > 0;
  if (!isClosed || querystring === '') return;
  const unknown = [...new URLSearchParams(querystring).keys()].find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const right = known.length === 0 ? 'send it as a field of the body' : `known parameters: ${known.join(', ')}`;
  throw invalid(unknown.slice(0, SHOWN_CHARACTERS_MAX), `is an unknown parameter; ${right}`, 'unknown_field');
}
