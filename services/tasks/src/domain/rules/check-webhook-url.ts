import type { Fault } from '../fault.ts';

const CHARACTERS_MAX = 2048;
const HTTPS_PORT = '443';
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': HTTPS_PORT };
/** The URL parser repairs other texts: a missing slash, a backslash, a tab. A URL that needs repair is refused. */
const WELL_FORMED = /^https?:\/\/[^/\\]/i;
const UNWELCOME = /[\u0000-\u0020\u007f-\u00a0\\]|\s/u;
/** The parser drops an empty user name, as in `https://@host/`. */
const USER = /^[^/]*\/\/[^/?#]*@/;

const EXPECTED = 'must be an https URL on port 443, such as https://example.com/hooks';

/** Names that are used only inside a network. */
const PRIVATE_NAME = /(^|\.)(localhost|local|internal|lan|arpa|onion|i2p|invalid)$|^[^.]*$|^\.|\.\./;
/** The private and special addresses that a person may write by mistake. */
const SPECIAL_IPV4 = [
  /^(0|10|127|22[4-9]|2[3-5]\d)\./,
  /^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./,
  /^169\.254\./,
  /^172\.(1[6-9]|2\d|3[01])\./,
  /^192\.(168\.|0\.[02]\.)/,
  /^198\.(1[89]\.|51\.100\.)/,
  /^203\.0\.113\./,
];
const IPV4 = /^\d+(\.\d+){3}$/;
/** 2000::/3 without the parts that embed or document other addresses. */
const GLOBAL_IPV6 = /^\[(?!2002:|3fff:|2001:(:|db8:|1?[\da-f]{1,2}:))[23][\da-f]{3}:/;

/**
 * Checks the URL of a receiver without resolving its host: the service that connects judges the address. `allow` names
 * receivers as `host:port` that need neither https nor a public host.
 */
export function webhookUrlFault(text: string, field: string, allow: ReadonlySet<string>): Fault | undefined {
  const message = textFault(text) ?? receiverFault(URL.parse(text), allow);
  return message === undefined ? undefined : { reason: 'invalid_webhook_url', field, message };
}

function textFault(text: string): string | undefined {
  if (text.length > CHARACTERS_MAX) return `must have at most ${CHARACTERS_MAX} characters`;
  if (USER.test(text)) return 'must have no user name and no password';
  if (text.includes('#')) return 'must have no fragment';
  return WELL_FORMED.test(text) && !UNWELCOME.test(text) ? undefined : EXPECTED;
}

function receiverFault(url: URL | null, allow: ReadonlySet<string>): string | undefined {
  if (url === null || url.href.length > CHARACTERS_MAX) return EXPECTED;
  const port = url.port === '' ? DEFAULT_PORTS[url.protocol] : url.port;
  if (allow.has(`${url.hostname}:${String(port)}`)) return undefined;
  if (url.protocol !== 'https:' || port !== HTTPS_PORT) return EXPECTED;
  return isPublicHost(url.hostname) ? undefined : 'must have a public host, such as https://example.com/hooks';
}

function isPublicHost(host: string): boolean {
  if (host.startsWith('[')) return GLOBAL_IPV6.test(host);
  if (IPV4.test(host)) return !SPECIAL_IPV4.some((range) => range.test(host));
  return !PRIVATE_NAME.test(host.replace(/\.$/, ''));
}
