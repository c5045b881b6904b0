/** An act of an operator. */
export interface Act {
  readonly id: string;
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly reason: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** GET /acts. Query: `subject`, `after`. */
export interface ActList {
  readonly acts: readonly Act[];
  readonly after?: string;
}
