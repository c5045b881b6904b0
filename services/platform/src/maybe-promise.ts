/** A value that is often there at once. Awaiting it would make each request pay for the rare one that must wait. */
export type MaybePromise<T> = T | Promise<T>;

/** Goes on with a value: now if it is there, otherwise as soon as it is. */
export function thenMaybe<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
