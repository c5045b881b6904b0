import path from 'node:path';
import { readErrorCode, readBoundedText } from './bounded-text.ts';

/** A private key with its certificates takes a few KiB. */
const SECRET_BYTES_MAX = 64 * 1024;

/** The files that a configuration takes values from. */
export interface SecretFiles {
  /** The text of a file without the newline at its end. Throws an Error that says what is wrong and expected. */
  read(file: string): string;
  /** The absolute path and the version of each file that was read. */
  readonly versions: ReadonlyMap<string, string>;
  /** Replaces each text that was read by `***`. */
  redact(message: string): string;
}

export function openSecretFiles(): SecretFiles {
  const versions = new Map<string, string>();
  const texts = new Map<string, string>();
  return {
    versions,
    read: (file) => {
      const known = texts.get(file);
      if (known !== undefined) return known;
      const { text, version } = readSecret(file);
      const value = text.replace(/\r?\n$/, '');
      if (value === '') throw new Error(`the file ${file} is empty; expected the value`);
      versions.set(file, version);
      texts.set(file, value);
      return value;
    },
    redact: (message) =>
      [...texts.values()]
        .toSorted((left, right) => right.length - left.length)
        .reduce((redacted, text) => redacted.replaceAll(text, '***'), message),
  };
}

function readSecret(file: string) {
  if (!path.isAbsolute(file)) throw new Error(`expected an absolute path after file:, not ${file}`);
  try {
    return readBoundedText(file, SECRET_BYTES_MAX);
  } catch (error) {
    throw new Error(`the file ${file} cannot be read (${readErrorCode(error)}); expected a file with the value`, {
      cause: error,
    });
  }
}
