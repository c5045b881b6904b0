import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { FilePurpose as WirePurpose, ListFilesRequest, StoredFile } from '@reelgate/proto/media/v1/file_service';
import type { MediaFacts } from '../domain/media-facts.ts';
import type { Blob, MediaObject, Picture, Purpose } from '../domain/media-object.ts';

export interface NewBlob {
  readonly sha256: string;
  readonly bytes: number;
  /** The storage key for new content. It is also the name of this upload's pin. */
  readonly key: string;
}

/** Content and its storage key. Content that was swept and uploaded again has another key. */
export interface StoredUnder {
  readonly sha256: string;
  readonly key: string;
}

export interface NewObject {
  readonly id: string;
  readonly accountId: string;
  readonly taskId: string;
  readonly purpose: Purpose;
  readonly blob: StoredUnder;
  /** The staged reference, which a task stages once. Empty if the object is not unique. */
  readonly reference: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The pin of the upload, which the claim replaces. */
  readonly pin?: string | undefined;
  /** The reservation of the upload, which the claim replaces. */
  readonly upload?: string | undefined;
}

/** An expected upload of an account, counted against its limit. */
export interface Upload {
  readonly id: string;
  readonly accountId: string;
  /** The maximum number of bytes that the upload yields. */
  readonly bytes: number;
  readonly expiresAt: number;
}

/** An object that uses certain bytes, and its task. */
export interface Claimant {
  readonly id: string;
  readonly taskId: string;
}

/** Pins, which protect the bytes of an upload until an object claims them. */
export interface PinStore {
  /** Protects content from becoming garbage until then. Returns it with the key that it has or gets. */
  pinBlob(blob: NewBlob, until: number): Promise<Blob>;
  /** Pins stored bytes again. Returns false if their row was swept in the meantime. Then the bytes are garbage. */
  renewPin(blob: StoredUnder, pin: string, until: number): Promise<boolean>;
  /**
   * Ends the pin of an upload that no object claims. Returns the key of the bytes if they are not protected otherwise.
   * Then they are garbage.
   */
  dropPin(pin: string, now: number): Promise<string | undefined>;
}

export interface ClaimStore {
  /**
   * Adds a claim to stored content, and stores its facts. A task has one result, and one object for each staged
   * reference: a second claim returns the first object. Returns undefined if the content is gone or has another key,
   * the result of the thumbnail is gone, or the staging of the task has ended.
   */
  addObject(object: NewObject, facts: MediaFacts | undefined): Promise<MediaObject | undefined>;
}

/** Reservations of uploads. */
export interface UploadStore {
  /**
   * Reserves bytes in addition to the inline bytes of the account and its other uploads. Returns false if the sum would
   * exceed `bytesMax`.
   */
  beginUpload(upload: Upload, now: number, bytesMax: number): Promise<boolean>;
  /** Returns undefined if there is no such upload, or it has expired. */
  findUpload(id: string, now: number): Promise<Upload | undefined>;
  /** Moves the end of a reservation. One that has ended stays ended. */
  renewUpload(id: string, expiresAt: number): Promise<void>;
  endUpload(id: string): Promise<void>;
}

/** Ends of claims. */
export interface RemovalStore {
  /** Ends the result and the pictures of a task. Returns false if there is no result. */
  removeResult(taskId: string, now: number): Promise<boolean>;
  /**
   * Ends claims of these purposes only. Returns the keys of bytes that are no longer protected. They are garbage now.
   */
  removeObjects(ids: readonly string[], purposes: readonly Purpose[], now: number): Promise<readonly string[]>;
  /**
   * Ends the staged objects of a task, and refuses to stage more for it until `forgetAt`. Returns the keys of bytes
   * that are garbage now. An object that is added at the same moment is either ended or not added.
   */
  endStaging(
    task: { readonly accountId: string; readonly taskId: string },
    now: number,
    forgetAt: number,
  ): Promise<readonly string[]>;
}

export interface GarbageStore {
  /** Records that the bytes of a key are removed. */
  forgetGarbage(key: string): Promise<void>;
}

/** The passes over expired rows and unclaimed content. */
export interface SweepStore extends GarbageStore {
  /** Ends expired claims and returns their number. */
  expireObjects(now: number, limit: number): Promise<number>;
  /** Forgets expired pins, uploads, stagings and files, and returns their number. */
  forgetSpent(now: number, limit: number): Promise<number>;
  /** Forgets results that ended before then, and returns their number. */
  forgetObjects(before: number, limit: number): Promise<number>;
  /** Deletes the rows of unclaimed content, and returns the keys of the bytes to remove. */
  takeGarbage(now: number, limit: number): Promise<readonly string[]>;
}

/** The objects and the bytes that they claim. Content without claims and pins becomes garbage. */
export interface MediaStore extends PinStore, ClaimStore, UploadStore, RemovalStore, SweepStore, FileStore {
  find(id: string): Promise<MediaObject | undefined>;
  findResult(taskId: string): Promise<MediaObject | undefined>;
  findPicture(picture: Picture, taskId: string): Promise<MediaObject | undefined>;
  findStaged(accountId: string, taskId: string, reference: string): Promise<MediaObject | undefined>;
  noteFacts(sha256: string, facts: MediaFacts): Promise<void>;
  /** At most `limit` claimed contents, ordered by storage key, after this key. */
  claimedBlobs(after: string, limit: number): Promise<readonly Blob[]>;
  /** The objects that claim content under this key. */
  claimants(blob: StoredUnder, limit: number): Promise<readonly Claimant[]>;
}

/** The state of a count of the results. */
export interface ResultCount {
  readonly after: string;
  readonly bytes: number;
  /** The number of results that expire soon. */
  readonly expiring: number;
  readonly isWhole: boolean;
}

export const NO_RESULTS: ResultCount = { after: '', bytes: 0, expiring: 0, isWhole: false };

/** Counts the next page of objects. `soon`: results that expire until then expire soon. */
export type CountResults = (count: ResultCount, soon: number) => Promise<ResultCount>;

/** `batch`: the input of a batch, which a client uploads. `batch_output`: its results or errors, which it writes. */
export type FilePurpose = EnumWord<typeof WirePurpose>;

/** A file that is counted before its bytes arrive. */
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
  | { readonly kind: 'exists'; readonly file: StoredFile }
  | { readonly kind: 'full' };

export interface FileDescription {
  readonly tokenId: string;
  readonly filename: string;
  /** Counts from the reservation, which is when the file is created. */
  readonly lifetimeMs: number;
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
  commitFile(accountId: string, id: string, description: FileDescription, now: number): Promise<StoredFile | undefined>;
  findFile(accountId: string, id: string, now: number): Promise<StoredFile | undefined>;
  listFiles(page: ListFilesRequest, now: number): Promise<readonly StoredFile[]>;
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
