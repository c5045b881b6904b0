/** The maximum number of characters of all names and values of a request. */
const CHARACTERS_MAX = 16 * 1024;
const NAME = /^[a-z0-9-]{1,64}$/;
const VALUE = /^[\t\u0020-\u007e]*$/;
/** The headers of a connection, and those that this service sets itself. */
const RESERVED: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);

export interface WebhookHeader {
  readonly name: string;
  readonly value: string;
}

/**
 * Finds a fault in the headers of a request. Returns undefined if all are valid. The text continues the name of the
 * field.
 */
export function findHeadersFault(headers: readonly WebhookHeader[]): string | undefined {
  const names = new Set(headers.map(({ name }) => name));
  if (names.size < headers.length) return 'must have each name once';
  const wrong = headers.find(({ name, value }) => !NAME.test(name) || !VALUE.test(value));
  if (wrong !== undefined) return 'must have names in lower case, and values of printable characters';
  if (headers.some(({ name }) => RESERVED.has(name))) return 'must have no header of the connection or of this service';
  const characters = headers.reduce((total, { name, value }) => total + name.length + value.length, 0);
  return characters > CHARACTERS_MAX ? `must have at most ${CHARACTERS_MAX} characters` : undefined;
}
