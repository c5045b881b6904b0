const SIZE_FIRST = 2048;
/** The maximum number of bytes of a character of a JavaScript string. */
const BYTES_PER_UNIT = 3;
const INT16_BYTES = 2;
const INT32_BYTES = 4;
/** The length of a message follows its letter, and does not include it. */
const HEADER_BYTES = 1 + INT32_BYTES;

/** Writes messages of PostgreSQL's extended protocol one after another. Every value is text. */
export interface MessageWriter {
  /** Prepares a statement under the name. An empty name is valid until the next statement. */
  parse(name: string, text: string): void;
  /** Binds values to the prepared statement. */
  bind(name: string, values: readonly (string | null)[]): void;
  /** Asks for the columns of the bound statement. */
  describe(): void;
  /** Runs the bound statement. */
  execute(): void;
  /** Forgets a prepared statement. */
  close(name: string): void;
  /** Ends the messages, and returns their bytes. */
  sync(): Buffer;
}

/** One write of a whole message takes a third of the time of a write of each part. */
export function newMessageWriter(): MessageWriter {
  const { putInt16, putInt32, putText, putValue, putMessage, take } = newByteWriter();
  return {
    parse: (name, text) =>
      putMessage('P', () => {
        putText(name);
        putText(text);
        // the server finds the types of all values
        putInt16(0);
      }),
    bind: (name, values) =>
      putMessage('B', () => {
        putText('');
        putText(name);
        // no formats: all values are text, and all results are too
        putInt16(0);
        putInt16(values.length);
        for (const value of values) putValue(value);
        putInt16(0);
      }),
    describe: () => {
      putMessage('D', () => putText('P'));
    },
    execute: () =>
      putMessage('E', () => {
        putText('');
        // all rows
        putInt32(0);
      }),
    close: (name) => {
      putMessage('C', () => putText(`S${name}`));
    },
    sync: () => {
      putMessage('S', () => undefined);
      return take();
    },
  };
}

interface ByteWriter {
  readonly putInt16: (value: number) => void;
  readonly putInt32: (value: number) => void;
  /** A text that ends with a zero. */
  readonly putText: (text: string) => void;
  /** A text after its length. */
  readonly putValue: (value: string | null) => void;
  /** A letter and the length of the body, and the body. */
  readonly putMessage: (letter: string, putBody: () => void) => void;
  readonly take: () => Buffer;
}

function newByteWriter(): ByteWriter {
  let buffer = Buffer.allocUnsafe(SIZE_FIRST);
  let length = 0;
  const reserve = (bytes: number): void => {
    if (length + bytes <= buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * buffer.length, length + bytes));
    buffer.copy(larger, 0, 0, length);
    buffer = larger;
  };
  const putInt32 = (value: number): void => {
    reserve(INT32_BYTES);
    length = buffer.writeInt32BE(value, length);
  };
  return {
    putInt16: (value) => {
      reserve(INT16_BYTES);
      length = buffer.writeInt16BE(value, length);
    },
    putInt32,
    putText: (text) => {
      reserve(text.length * BYTES_PER_UNIT + 1);
      length += buffer.write(text, length);
      length = buffer.writeUInt8(0, length);
    },
    putValue: (value) => {
      if (value === null) {
        putInt32(-1);
        return;
      }
      reserve(INT32_BYTES + value.length * BYTES_PER_UNIT);
      const written = buffer.write(value, length + INT32_BYTES);
      length = buffer.writeInt32BE(written, length) + written;
    },
    putMessage: (letter, putBody) => {
      reserve(HEADER_BYTES);
      const start = length;
      buffer.write(letter, start);
      length += HEADER_BYTES;
      putBody();
      buffer.writeInt32BE(length - start - 1, start + 1);
    },
    take: () => buffer.subarray(0, length),
  };
}
