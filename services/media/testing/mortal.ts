/** A process that dies at a given moment: the call of that moment and all later calls never answer. */
export interface Life {
  /**
   * The same object, whose every call is two moments: before it does anything, and after it has acted but before its
   * caller learns it.
   */
  mortal<T extends object>(object: T): T;
  /** Resolves when the process dies. */
  readonly ended: Promise<void>;
}

/** A dying process closes its files; this one leaves them as they are. */
const held: unknown[] = [];

type Call = (...values: readonly unknown[]) => unknown;

/** The process dies at this moment, counted from 1. It survives if the work has fewer moments. */
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
