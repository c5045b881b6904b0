/** What is wrong with an order. With a field, the message goes on from the field's name. */
export interface Fault {
  readonly reason: string;
  readonly field?: string;
  readonly message: string;
}

/** Looks for one thing that can be wrong. */
export type Rule<T> = (subject: T) => Fault | undefined;

/** The first fault that the rules find, in their order. */
export function firstFault<T>(subject: T, rules: readonly Rule<T>[]): Fault | undefined {
  for (const rule of rules) {
    const fault = rule(subject);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
