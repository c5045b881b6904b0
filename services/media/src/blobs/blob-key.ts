const KEY = /^[a-z0-9][a-z0-9_-]{3,127}$/;

/** A key leads nowhere but into the store, whatever it was made of. */
export function checkedKey(key: string): string {
  if (!KEY.test(key)) throw new TypeError(`not a blob key: ${key}`);
  return key;
}
