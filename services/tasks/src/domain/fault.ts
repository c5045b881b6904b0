/** A fault of an order. The message continues the sentence that the field name begins. */
export interface Fault {
  readonly reason: string;
  readonly field?: string;
  readonly message: string;
}

/** Finds one kind of fault. */
export type Rule<T> = (subject: T) => Fault | undefined;

/** The fault that the first failing rule reports. */
export function firstFault<T>(subject: T, rules: readonly Rule<T>[]): Fault | undefined {
  for (const rule of rules) {
    const fault = rule(subject);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
