/** Names in lower case; several values under one name as a list. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>;

/** The destination of an answer: a client, or the result of an asynchronous job. */
export interface CallSink {
  /** Takes the head of the answer; the first bytes can follow much later. */
  begin(status: number, headers: AnswerHeaders): void;
  /** Takes a piece; false: the next one should wait until it has drained. */
  write(chunk: Buffer): boolean;
  /** Sets what is called when the sink has drained. */
  onDrain(resume: () => void): void;
  /** The last piece, if there is one left, and the trailers. */
  end(chunk: Buffer | undefined, trailers: AnswerHeaders): void;
  /** The answer cannot be finished; its reader must be able to tell. */
  broken(): void;
}
