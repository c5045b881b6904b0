import { isDataUrl, parseDataUrl } from './parse-data-url.ts';
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
