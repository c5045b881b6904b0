/** Freezes a value deeply: a later write to any part of it throws. */
export function deepFrozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFrozen);
  }
  return value;
}

/** Every object that is reachable from this one, including itself. */
export function reachableFrom(value: unknown, seen = new Set<object>()): ReadonlySet<object> {
  if (typeof value !== 'object' || value === null || seen.has(value)) return seen;
  seen.add(value);
  for (const inner of Object.values(value)) reachableFrom(inner, seen);
  return seen;
}
