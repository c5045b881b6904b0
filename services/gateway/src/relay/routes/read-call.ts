import { toEndpointPath } from '../endpoints.ts';
import type { RelayEndpoint } from '../endpoints.ts';
import type { JsonObject } from '../protocols/protocol.ts';
import { parseFormParts, readBoundary, readTextFields } from '../requests/form-parts.ts';
import type { FormPart } from '../requests/form-parts.ts';
import type { CallRequest, RelayCall } from '../requests/relay-call.ts';
import { listForwardedHeaders } from '../headers.ts';
import { toReceiveOptions, readBodyType } from '../../http/bodies/read-body.ts';
import type { BodyBounds } from '../../http/bodies/read-body.ts';
import { checkCallBody, dropByteOrderMark, parseCallBody } from '../../http/bodies/parse-json.ts';
import { readRawBody } from '../../http/bodies/receive-body.ts';
import { readAnnotations } from '../../http/headers.ts';
import { requirePrincipal } from '../../http/http-exchange.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import { refuse } from '../../refusals.ts';

const MODEL = 'model';
const NO_FIELDS: ReadonlyMap<string, string> = new Map();

/** The endpoint that a request matched, and the decoded parameters of its path. */
export interface MatchedEndpoint {
  readonly endpoint: RelayEndpoint;
  readonly params: Readonly<Record<string, string>>;
}

/** Reads the body of a call and parses it. Refuses a call without a model or without a valid body. */
export async function readCall(bounds: BodyBounds, exchange: Exchange, matched: MatchedEndpoint): Promise<RelayCall> {
  const { req } = exchange;
  // refuses by the headers before it reads the body
  const type = readBodyType(req.headers, matched.endpoint.takesForms);
  const check = type === 'json' ? checkCallBody(req.headers) : undefined;
  const principal = requirePrincipal(exchange);
  const label = readAnnotations(req.headers).label ?? principal.label;
  const body = await readRawBody(req, toReceiveOptions(exchange, bounds.budget, bounds.limits.bodyBytes), check);
  return parseCall({
    endpoint: matched.endpoint,
    path: toEndpointPath(matched.endpoint, matched.params),
    params: matched.params,
    body: type === 'json' ? dropByteOrderMark(body) : body,
    contentType: req.headers['content-type'],
    search: removeKeyParameter(exchange.search),
    headers: listForwardedHeaders(req.rawHeaders, req.headers.connection),
    requestId: exchange.state.requestId,
    span: exchange.state.span,
    principal,
    label,
  });
}

/** A call to a synchronous route with its bytes, not parsed yet. */
export interface RawCall extends CallRequest {
  readonly params: MatchedEndpoint['params'];
  readonly contentType: string | undefined;
}

/** Parses a call as far as the relay needs it. */
export async function parseCall({
  endpoint,
  path,
  params,
  contentType,
  body,
  search,
  headers,
  requestId,
  span,
  principal,
  label,
}: RawCall): Promise<RelayCall> {
  const type = readBodyType({ 'content-type': contentType }, endpoint.takesForms);
  const form = type === 'form' ? parseForm(body, contentType ?? '') : undefined;
  const json = form === undefined ? await requireObject(body) : undefined;
  if (json !== undefined && endpoint.model === 'body') assertOneSpelling(json);
  const fields = form?.fields ?? NO_FIELDS;
  return {
    endpoint,
    path,
    search,
    headers,
    body,
    requestId,
    span,
    principal,
    label,
    parts: form?.parts,
    content: { path, json, fields, bodyBytes: body.length },
    model: requireModel(endpoint.model === 'path' ? params['model'] : (json?.['model'] ?? fields.get('model'))),
  };
}

async function requireObject(body: Buffer): Promise<JsonObject> {
  const value = await parseCallBody(body);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw refuse('invalid_request', { message: 'the body must be a JSON object' });
}

/** Some upstreams ignore the case of names, and would use another model than the one that is checked here. */
function assertOneSpelling(json: JsonObject): void {
  for (const name in json) {
    if (name.length === MODEL.length && name !== MODEL && name.toLowerCase() === MODEL)
      throw refuse('invalid_request', { field: name, message: 'is an unknown field; did you mean model?' });
  }
}

function parseForm(
  body: Buffer,
  contentType: string,
): { readonly parts: readonly FormPart[]; readonly fields: ReadonlyMap<string, string> } {
  const boundary = readBoundary(contentType);
  if (boundary === undefined)
    throw refuse('invalid_request', { message: 'the content-type of the form must have a boundary' });
  const parts = parseFormParts(body, boundary);
  if (parts === undefined) throw refuse('invalid_request', { message: 'the form is malformed or has too many parts' });
  return { parts, fields: readTextFields(body, parts) };
}

function requireModel(model: unknown): string {
  if (typeof model === 'string' && model !== '') return model;
  throw refuse('missing_model', { field: 'model', message: 'is required: the id of a model' });
}

/** The query without the token that Google's clients send as `key`. */
function removeKeyParameter(search: string): string {
  if (search === '') return search;
  const pairs = search.slice(1).split('&');
  const kept = pairs.filter((pair) => !new URLSearchParams(pair).has('key'));
  if (kept.length === pairs.length) return search;
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
}
