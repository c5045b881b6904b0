/** The same value; whoever writes to any part of it from now on throws. */
export function deepFrozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFrozen);
  }
  return value;
}

/** Every object that can be come to from this one, itself included. */
export function reachableFrom(value: unknown, seen = new Set<object>()): ReadonlySet<object> {
  if (typeof value !== 'object' || value === null || seen.has(value)) return seen;
  seen.add(value);
  for (const inner of Object.values(value)) reachableFrom(inner, seen);
  return seen;
}
