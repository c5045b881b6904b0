/** Names in lower case; several values of one name as a list. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>;

/** The destination of an answer: a client, or the result of an asynchronous job. */
export interface CallSink {
  /** Takes the head of the answer; the first bytes can follow much later. */
  begin(status: number, headers: AnswerHeaders): void;
  /** Takes a piece; false: the caller should wait until the sink has drained. */
  write(chunk: Buffer): boolean;
  /** Sets the function that is called when the sink has drained. */
  onDrain(resume: () => void): void;
  /** Ends the answer with the last piece, if there is one, and the trailers. */
  end(chunk: Buffer | undefined, trailers: AnswerHeaders): void;
  /** Breaks the answer off, so that its reader notices that it is incomplete. */
  broken(): void;
}
