export interface LineWidth {
  /** The characters of a line of standard output, undefined if it is not a terminal. */
  readonly columns: number | undefined;
}

/** Writes progress to standard error, so that standard output holds only the answer. */
export interface Terminal extends LineWidth {
  /** True if standard error is a terminal. */
  readonly isInteractive: boolean;
  /** Replaces the progress line on a terminal. It is not written to a pipe. */
  progress(text: string): void;
  /** Removes the progress line. */
  clear(): void;
  /** Writes a line of its own, on a terminal or in a pipe. */
  note(text: string): void;
}

interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): boolean;
}

const CLEAR_LINE = '\r\u001b[K';
const COLUMNS_OTHERWISE = 80;

export function newTerminal(output: Stream, errors: Stream): Terminal {
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
