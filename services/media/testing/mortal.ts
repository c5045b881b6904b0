/** A life that ends at a certain moment: what was asked for then, and all that is asked for later, never answers. */
export interface Life {
  /**
   * The same object, whose every call is two moments: before it does anything, and when it has done it and nobody
   * knows.
   */
  mortal<T extends object>(object: T): T;
  /** Resolves at the end. */
  readonly ended: Promise<void>;
}

/** A process that dies closes its files; here they stay as they are. */
const held: unknown[] = [];

type Call = (...values: readonly unknown[]) => unknown;

/** Ends at the moment of that number, counted from 1; at a number that is never reached, not at all. */
export function lifeUntil(moment: number): Life {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let moments = 0;
  const pass = async (): Promise<void> => {
    moments += 1;
    if (moments < moment) return;
    resolve(true);
    await new Promise(() => undefined);
  };
  const callOf =
    (call: Call): Call =>
    async (...values) => {
      await pass();
      const answer = await call(...values);
      held.push(answer);
      await pass();
      return typeof answer === 'object' &&
        answer !== null &&
        Object.values(answer).some((value) => typeof value === 'function')
        ? mortal(answer)
        : answer;
    };
  const mortal = <T extends object>(object: T): T =>
    new Proxy(object, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? callOf((value as Call).bind(target)) : value;
      },
      apply: (target, _this, values: unknown[]) => callOf(target as unknown as Call)(...values),
    });
  return { mortal, ended: promise.then(() => undefined) };
}
