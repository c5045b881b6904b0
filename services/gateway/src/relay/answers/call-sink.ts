/** Names in lower case; several values under one name as a list. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>;

/** Where an answer goes: to a client, or into the record of a call that nobody waits for. */
export interface CallSink {
  /** The head of the answer; the first bytes may be a while behind it. */
  begin(status: number, headers: AnswerHeaders): void;
  /** Takes a piece; false: the next one should wait until it has drained. */
  write(chunk: Buffer): boolean;
  /** Whom to tell whenever there is room again. */
  onDrain(resume: () => void): void;
  /** The last piece, if there is one left, and the trailers. */
  end(chunk: Buffer | undefined, trailers: AnswerHeaders): void;
  /** The answer cannot be finished, and whoever reads it must be able to tell. */
  broken(): void;
}
