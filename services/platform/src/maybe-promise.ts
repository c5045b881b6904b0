/**
 * A value that is usually available immediately. If it were always awaited, each request would pay for the rare value
 * that must be waited for.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Goes on with a value: now if it is there, otherwise as soon as it is. */
export function thenMaybe<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
