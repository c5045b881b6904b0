/**
 * Where a client of a vendor is pointed at: the gateway with a site token, or the upstream itself with its own
 * credential.
 */
export interface Target {
  /** Without a path of the API. */
  readonly base: string;
  readonly key: string;
  readonly model: string;
}

/** One call of one official SDK. */
export interface SdkCall {
  readonly name: string;
  /** Makes it with this text in it, and gives all that its caller learns; retries are off. */
  readonly run: (target: Target, text: string) => Promise<unknown>;
  /** Whether the gateway asks the upstream for its usage, which the client did not. */
  readonly asksUsage?: true;
  /** Where the text goes nowhere near the wire, words cannot steer the upstream. */
  readonly streams?: true;
}

/** All that an async iterable gives. */
export async function collected<T>(parts: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const part of parts) all.push(part);
  return all;
}
