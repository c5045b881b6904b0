/** `batch`: the input of a batch, which a client uploads. `batch_output`: its results or errors, which it writes. */
export type FilePurpose = 'batch' | 'batch_output';

/** A file of a client. Its bytes are the private object of the same id. Times are milliseconds since 1970. */
export interface ClientFile {
  readonly id: string;
  readonly accountId: string;
  /** The token that uploaded it, empty for an output. */
  readonly tokenId: string;
  /** A stranger's text. */
  readonly filename: string;
  readonly purpose: FilePurpose;
  readonly bytes: number;
  readonly createdAt: number;
  readonly expiresAt: number;
}

const CONTROL_CHARACTERS = /[\p{Cc}\p{Cf}]/gu;

/** A name as it is stored: without characters that a page or a terminal would obey, and never empty. */
export function cleanFilename(name: string): string {
  const clean = name.toWellFormed().replace(CONTROL_CHARACTERS, '').trim();
  return clean === '' ? 'file' : clean;
}
