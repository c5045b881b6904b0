/** A value that is often there at once. Awaiting it would make each request pay for the rare one that must wait. */
export type Soon<T> = T | Promise<T>;

/** Goes on with a value: now if it is there, otherwise as soon as it is. */
export function whenThere<T, R>(value: Soon<T>, next: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
