import type { Schema } from '../dialects/dialect.ts';
import { envelopeOf } from '../problems/envelopes.ts';
import type { EnvelopeName } from '../problems/envelopes.ts';
import type { RouteEntry } from '../http/route.ts';

const text = { type: 'string' };
const envelope = (title: string, error: Readonly<Record<string, unknown>>, beside: Readonly<Record<string, unknown>> = {}): Schema =>
  ({ title, type: 'object', required: ['error'], properties: { ...beside, error: { type: 'object', properties: error } } });

const SCHEMAS: Readonly<Record<EnvelopeName, Schema>> = {
  openai: envelope('Error', { message: text, type: text, param: { type: ['string', 'null'] }, code: text }),
  vendor: envelope('VendorError', { type: text, message: { ...text, description: 'Ends in the vendor\'s number.' }, http_code: text }, { type: { const: 'error' }, request_id: text }),
  anthropic: envelope('MessagesError', { type: text, message: text }, { type: { const: 'error' }, request_id: text }),
  google: envelope('GoogleError', { code: { type: 'integer' }, message: text, status: text }),
};

/** The refusals that a route can answer with. */
export function errorResponses({ path, token, doc, methods }: RouteEntry): object {
  const content = { 'application/json': { schema: SCHEMAS[envelopeOf(path)] } };
  const statuses: [string, string][] = [
    ...(token === undefined ? [] : [['401', 'No token, or an unknown one.'], ['403', 'The token is disabled or has expired.'], ['429', 'A rate, a cap or a balance is used up.']] as [string, string][]),
    ...(methods === 'all' ? [['501', 'Not implemented.']] as [string, string][] : []),
    ...(doc.json === undefined ? [] : [['400', 'The body or a field of it is wrong; the message names it.'], ['413', 'The body is too large.'], ['415', 'The body is of another type.']] as [string, string][]),
    ...(path.includes('{') || doc.json !== undefined ? [['404', 'No such task, model or path.']] as [string, string][] : []),
    ...(doc.isRelayed === undefined ? [] : [['502', 'The upstream broke off before it answered; it may have done the work.'], ['503', 'Nothing that serves the model can be reached.'], ['504', 'The upstream did not answer in time; it may have done the work.']] as [string, string][]),
  ];
  return Object.fromEntries(statuses.map(([status, description]) => [status, { description, content }]));
}
