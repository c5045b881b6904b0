/** Where progress goes: standard error, so that standard output holds the answer alone. */
export interface Terminal {
  /** Whether a person looks at standard error. */
  readonly isInteractive: boolean;
  /** Characters of a line of standard output; undefined where it is no terminal. */
  readonly columns: number | undefined;
  /** Replaces the progress line on a terminal, and writes nothing anywhere else. */
  progress(text: string): void;
  /** Removes the progress line. */
  clear(): void;
  /** A line of its own, on a terminal or in a pipe. */
  note(text: string): void;
}

type Stream = Pick<NodeJS.WriteStream, 'write'> & { readonly isTTY?: boolean; readonly columns?: number };

const CLEAR_LINE = '\r\u001b[K';
const COLUMNS_OTHERWISE = 80;

export function terminalOf(output: Stream, errors: Stream): Terminal {
  const isInteractive = errors.isTTY === true;
  let isDirty = false;
  const clear = (): void => {
    if (isDirty) errors.write(CLEAR_LINE);
    isDirty = false;
  };
  return {
    isInteractive,
    columns: output.isTTY === true ? (output.columns ?? COLUMNS_OTHERWISE) : undefined,
    progress: (text) => {
      if (!isInteractive) return;
      // A line that wraps cannot be replaced.
      errors.write(CLEAR_LINE + text.slice(0, (errors.columns ?? COLUMNS_OTHERWISE) - 1));
      isDirty = true;
    },
    clear,
    note: (text) => {
      clear();
      errors.write(`${text}\n`);
    },
  };
}
