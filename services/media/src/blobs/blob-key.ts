const KEY = /^[a-z0-9][a-z0-9_-]{3,127}$/;

/** A key is a plain name, so it cannot lead out of the store. */
export function checkKey(key: string): string {
  if (!KEY.test(key)) throw new TypeError(`not a blob key: ${key}`);
  return key;
}
