const SECRET_NAME = /(^|_)key$|password|token|authorization/;
const IN_ADDRESS = /:\/\/([^@/\s]*)@/;
/** A shorter text occurs in words that are no secret. */
const SECRET_LENGTH_MIN = 6;

/** Replaces every secret of a configuration by `***`. An upstream may quote the key that it refuses. */
export function newSecretHider(configuration: unknown): (text: string) => string {
  const secrets = [...new Set(listSecrets(configuration, ''))]
    .filter((secret) => secret.length >= SECRET_LENGTH_MIN)
    .toSorted((one, other) => other.length - one.length);
  return (text) => secrets.reduce((left, secret) => left.replaceAll(secret, '***'), text);
}

function listSecrets(value: unknown, name: string): readonly string[] {
  if (typeof value === 'string') {
    const inAddress = IN_ADDRESS.exec(value)?.[1]?.split(':').at(-1);
    return [...(SECRET_NAME.test(name) ? [value] : []), ...(inAddress === undefined ? [] : [inAddress])];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => listSecrets(inner, Array.isArray(value) ? name : key));
}
