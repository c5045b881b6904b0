import type { ClientFile, FilePurpose } from '../domain/client-file.ts';

/** A file that is counted before its bytes come. */
export interface FileReservation {
  readonly id: string;
  readonly accountId: string;
  readonly purpose: FilePurpose;
  /** The maximum number of bytes that arrive. */
  readonly bytes: number;
  /** The name that the account has for this file alone. */
  readonly key: string | undefined;
  readonly expiresAt: number;
}

/** The files that an account may have. */
export interface FileBounds {
  readonly filesMax: number;
  readonly bytesMax: number;
}

export type ReserveResult =
  | { readonly kind: 'reserved'; readonly reservation: FileReservation }
  | { readonly kind: 'exists'; readonly file: ClientFile }
  | { readonly kind: 'full' };

export interface FileDescription {
  readonly tokenId: string;
  readonly filename: string;
  /** Counts from the reservation, which is when the file is created. */
  readonly lifetimeMs: number;
}

export interface FilePage {
  readonly accountId: string;
  /** Undefined for every purpose. */
  readonly purpose: FilePurpose | undefined;
  readonly limit: number;
  /** The last file of the page before. It may be gone. */
  readonly after: string | undefined;
  readonly isAscending: boolean;
}

/** The files of clients. A reservation becomes a file in one transaction with the claim to its bytes. */
export interface FileStore {
  /**
   * Counts a file in addition to the files and reservations of the account. Without bounds it is counted and never
   * refused. A reservation with the same key is continued.
   */
  reserveFile(reservation: FileReservation, now: number, bounds: FileBounds | undefined): Promise<ReserveResult>;
  /** Counts the files and reservations of an account, as `reserveFile` counts them. */
  countFiles(accountId: string, now: number): Promise<{ readonly files: number; readonly bytes: number }>;
  /** Returns undefined if there is no such reservation, it has expired, or its file is committed. */
  findReservation(accountId: string, id: string, now: number): Promise<FileReservation | undefined>;
  /** Moves the end of a reservation. A file keeps its end. */
  renewReservation(id: string, expiresAt: number): Promise<void>;
  /** Returns undefined if there is no such reservation, or its bytes have not arrived. */
  commitFile(accountId: string, id: string, description: FileDescription, now: number): Promise<ClientFile | undefined>;
  findFile(accountId: string, id: string, now: number): Promise<ClientFile | undefined>;
  listFiles(page: FilePage, now: number): Promise<readonly ClientFile[]>;
  /**
   * Removes a file or a reservation with its claim. `key` is the key of the bytes if they are garbage now. `removed`
   * tells a file from a reservation.
   */
  removeFile(
    accountId: string,
    id: string,
    now: number,
  ): Promise<{ readonly removed: boolean; readonly key: string | undefined }>;
}
