import type { IncomingMessage } from 'node:http';
import { listForwardedHeaders } from '../headers.ts';
import { refuse } from '../../refusals.ts';

const VERSION = '13';
const KEY = /^[+/0-9A-Za-z]{22}==$/;
/** A token of RFC 9110; a subprotocol is one. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
/** Browsers send a credential as a subprotocol, because they can set no other header. */
const CREDENTIAL = 'openai-insecure-api-key.';
/** The organization and project of the client's key, in the same way. */
const OWNERS = /^openai-(organization|project)\./;

/** The session that a client requests. */
export interface Handshake {
  /** Public id. */
  readonly model: string;
  /** The query as the client wrote it, with its question mark. */
  readonly search: string;
  /** The client's subprotocols, without its credential. */
  readonly protocols: readonly string[];
  /** The forwarded headers: names and values alternate. */
  readonly headers: readonly string[];
}

/** Reads and checks a handshake before any other service is called. Refuses with a Problem. */
export function readHandshake({ url = '', method, headers, rawHeaders }: IncomingMessage): Handshake {
  if (method !== 'GET' || !KEY.test(headers['sec-websocket-key'] ?? ''))
    throw refuse('invalid_request', { message: 'the request must be a WebSocket handshake' });
  if (headers['sec-websocket-version'] !== VERSION)
    throw refuse('upgrade_required', { message: `the WebSocket protocol must have version ${VERSION}` });
  const search = url.includes('?') ? url.slice(url.indexOf('?')) : '';
  const model = new URLSearchParams(search).get('model') ?? '';
  if (model === '')
    throw refuse('missing_model', { field: 'model', message: 'is required in the query: the id of a model' });
  return {
    model,
    search,
    protocols: readProtocols(headers['sec-websocket-protocol']),
    headers: listForwardedHeaders(rawHeaders, headers.connection),
  };
}

/** Replaces each model in the query with another one. The rest stays. */
export function setSearchModel(search: string, model: string): string {
  return search.replace(/(?<=[?&])([^=&]*)=[^&]*/g, (whole, name: string) =>
    new URLSearchParams(`${name}=`).has('model') ? `${name}=${encodeURIComponent(model)}` : whole,
  );
}

function readProtocols(header: string | undefined): readonly string[] {
  if (header === undefined) return [];
  const offered = header.split(',').map((name) => name.trim());
  if (!offered.every((name) => TOKEN.test(name)) || new Set(offered).size !== offered.length) {
    throw refuse('invalid_request', { message: 'the list of subprotocols is malformed' });
  }
  return offered.filter((name) => !name.startsWith(CREDENTIAL) && !OWNERS.test(name));
}
