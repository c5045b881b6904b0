/** A field that a rule of the contract requires. The server has refused a request without it. */
export function requireField<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`${name} is absent although the contract requires it`);
  return value;
}
