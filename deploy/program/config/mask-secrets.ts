const MASK = '***';
/** The names of keys whose texts are secrets, wherever they stand: `api_key`, `secret_access_key`, `session_token`. */
const SECRET_NAME = /(^|_)(key|key_id|secret|token|password|passphrase|credential|credentials|authorization)$/i;
/** Sections whose every text is a secret: headers carry credentials under any name. */
const SECRET_SECTIONS: ReadonlySet<string> = new Set(['headers']);
/** `user:password@` after a scheme, or before a host alone. */
const IN_AUTHORITY = /(:\/\/)[^/?#\s]*@/g;
const BEFORE_HOST = /^[^/?#\s@]+@(?=[^\s@/]+$)/;
const IN_QUERY = /(:\/\/[^?\s]*\?).*$/;

/** A configuration without its secrets, for people to read. */
export function maskSecrets(value: unknown): unknown {
  return maskValue(value, '', false);
}

function maskValue(value: unknown, name: string, isInSecrets: boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => maskValue(one, name, isInSecrets));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, maskValue(inner, key, isInSecrets || hidesAll(key, inner))]),
    );
  if (isInSecrets || (typeof value === 'string' && SECRET_NAME.test(name))) return MASK;
  return typeof value === 'string' ? maskAddress(value) : value;
}

function hidesAll(key: string, value: unknown): boolean {
  return SECRET_SECTIONS.has(key) && typeof value === 'object';
}

function maskAddress(text: string): string {
  return text.replace(IN_AUTHORITY, `$1${MASK}@`).replace(BEFORE_HOST, `${MASK}@`).replace(IN_QUERY, `$1${MASK}`);
}
