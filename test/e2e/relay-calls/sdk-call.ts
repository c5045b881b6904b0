/** The target of a vendor's client: the gateway with a site token, or the upstream with its own credential. */
export interface Target {
  /** The base address without a path of the API. */
  readonly base: string;
  readonly key: string;
  readonly model: string;
}

/** One call of one official SDK. */
export interface SdkCall {
  readonly name: string;
  /** Makes the call with this text, without retries. Returns everything that the caller learns. */
  readonly run: (target: Target, text: string) => Promise<unknown>;
  /** Whether the gateway asks the upstream for its usage, which the client did not. */
  readonly asksUsage?: true;
  /** Whether the text does not reach the wire, so that its words cannot steer the upstream. */
  readonly streams?: true;
}

/** All items of an async iterable. */
export async function collected<T>(parts: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const part of parts) all.push(part);
  return all;
}
