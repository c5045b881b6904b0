import { parseRemoteUrl } from './remote-url.ts';

/** The meaning of the text by which a client names a medium. Nothing is looked up or fetched for it. */
export type Reference =
  | { readonly kind: 'data'; readonly declaredType: string; readonly base64: string }
  | { readonly kind: 'own_content'; readonly taskId: string }
  | { readonly kind: 'own_object'; readonly object: string }
  | { readonly kind: 'remote'; readonly url: string }
  | { readonly kind: 'refused'; readonly fault: string };

const CONTENT_PATH = /^\/v1\/videos\/([A-Za-z0-9_-]{1,64})\/content$/;
const LINK_PATH = /^\/ximg\/([A-Za-z0-9_-]{1,64})\.[a-z0-9]{1,8}$/;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

export function classifyReference(text: string, publicUrl: string, urlCharactersMax?: number): Reference {
  if (isDataUrl(text)) return classifyDataUrl(text);
  if (/^\/(?!\/)/.test(text)) return ownReference(text.split(/[?#]/, 1)[0] ?? '');
  if (!/^https?:/i.test(text))
    return {
      kind: 'refused',
      fault: 'must be an http or https address, a data URL, or the address of a result of this service',
    };
  const parsed = parseRemoteUrl(text, urlCharactersMax);
  if ('fault' in parsed) return { kind: 'refused', fault: parsed.fault };
  const base = new URL(publicUrl);
  if (!isOwnHost(parsed.url, publicUrl)) return { kind: 'remote', url: parsed.url.href };
  const prefix = base.pathname.replace(/\/$/, '');
  return parsed.url.pathname.startsWith(`${prefix}/`)
    ? ownReference(parsed.url.pathname.slice(prefix.length))
    : NOT_OURS;
}

const NOT_OURS: Reference = {
  kind: 'refused',
  fault: 'must be the address of a result if it is an address of this service: /v1/videos/{id}/content or /ximg/…',
};

/** Reports whether an address of any scheme leads to this service. Such an address is never requested. */
export function isOwnHost(url: URL, publicUrl: string): boolean {
  const base = new URL(publicUrl);
  if (normalizeHost(url) !== normalizeHost(base)) return false;
  return toPortText(url) === toPortText(base) || (isDefaultPort(url) && isDefaultPort(base));
}

const normalizeHost = (url: URL): string => url.hostname.replace(/\.$/, '');
const toPortText = (url: URL): string => (url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? '') : url.port);
const isDefaultPort = (url: URL): boolean => Object.values(DEFAULT_PORTS).includes(toPortText(url));

function ownReference(path: string): Reference {
  const taskId = CONTENT_PATH.exec(path)?.[1];
  if (taskId !== undefined) return { kind: 'own_content', taskId };
  const object = LINK_PATH.exec(path)?.[1];
  return object === undefined ? NOT_OURS : { kind: 'own_object', object };
}

function classifyDataUrl(text: string): Reference {
  const parsed = parseDataUrl(text);
  return 'fault' in parsed ? { kind: 'refused', fault: parsed.fault } : { kind: 'data', ...parsed };
}

const HEADER_CHARACTERS_MAX = 256;
/** The text is searched, because a match against many million characters overflows the stack of the engine. */
const NOT_BASE64 = /[^A-Za-z0-9+/]/;
const PADDING = /={1,2}$/;

type ParsedDataUrl = { readonly declaredType: string; readonly base64: string } | { readonly fault: string };

function isDataUrl(text: string): boolean {
  return text.slice(0, 5).toLowerCase() === 'data:';
}

/**
 * Reads `data:image/png;base64,…`. Like browsers, it allows white space in the base64, and no other character outside
 * the alphabet. The type may be absent.
 */
function parseDataUrl(text: string): ParsedDataUrl {
  const comma = text.slice(0, HEADER_CHARACTERS_MAX).indexOf(',');
  const [declaredType = '', ...parameters] = text
    .slice('data:'.length, Math.max(comma, 0))
    .split(';')
    .map((part) => part.trim().toLowerCase());
  if (comma < 0 || parameters.at(-1) !== 'base64')
    return { fault: 'must be a data URL with base64, such as data:image/png;base64,…' };
  const base64 = text.slice(comma + 1).replace(/[\t\n\f\r ]+/g, '');
  if (base64 === '') return { fault: 'must be a data URL with at least one byte' };
  if (NOT_BASE64.test(base64.replace(PADDING, '')) || !isWholeBase64(base64))
    return { fault: 'must be a data URL with valid base64 after the comma' };
  return { declaredType, base64 };
}

/** Padding is optional, but padding that is there must be complete. */
function isWholeBase64(base64: string): boolean {
  return base64.endsWith('=') ? base64.length % 4 === 0 : base64.length % 4 !== 1;
}

/** The number of bytes that a base64 text holds. */
export function countDecodedBytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : Number(base64.endsWith('='));
  return Math.floor(((base64.length - padding) * 3) / 4);
}
