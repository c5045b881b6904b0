import type { MediaFacts } from '../domain/media-facts.ts';
import type { Blob, MediaObject, Purpose } from '../domain/media-object.ts';

export interface NewBlob {
  readonly sha256: string;
  readonly bytes: number;
  /** The storage key of content that is not known yet. It names the pin of this upload in any case. */
  readonly key: string;
}

/** Content, and where it was put. The same content has another key when it was swept and brought again. */
export type StoredUnder = Pick<Blob, 'sha256' | 'key'>;

export interface NewObject {
  readonly id: string;
  readonly accountId: string;
  readonly taskId: string;
  readonly purpose: Purpose;
  readonly blob: StoredUnder;
  /** What was staged, within the task; the same one is staged once. Empty: it does not matter. */
  readonly reference: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The pin that protected the content until now; the claim takes its place. */
  readonly pin?: string | undefined;
  /** The reservation that the bytes came under; the claim takes its place. */
  readonly upload?: string | undefined;
}

/** An expected upload of an account, counted against its limit. */
export interface Upload {
  readonly id: string;
  readonly accountId: string;
  /** The most bytes that the upload yields. */
  readonly bytes: number;
  readonly expiresAt: number;
}

/** Who loses something when bytes are gone. */
export interface Claimant {
  readonly id: string;
  readonly taskId: string;
}

/** Who claims which bytes. Content that nobody claims any more, and that no upload has pinned, becomes garbage. */
export interface MediaStore {
  /** Protects content from becoming garbage until then, and says under which key it is or is to be. */
  pinBlob(blob: NewBlob, until: number): Promise<Blob>;
  /** Pins again what lies under its key by now; false: it was swept meanwhile, and what lies there is garbage from here on. */
  renewPin(blob: StoredUnder, pin: string, until: number): Promise<boolean>;
  /**
   * Ends the pin of an upload that no object claims. Returns the key of the bytes if nothing else protects them; they
   * are garbage now.
   */
  dropPin(pin: string, now: number): Promise<string | undefined>;
  /**
   * Adds a claim to content that is kept; facts that are given are noted. A result of the same task, or the same reference staged for
   * the same task, is there once: a second one gives the first. Undefined: the content is there no more or under another key, the
   * result of the thumbnail is gone, or the staging of the task has ended.
   */
  addObject(object: NewObject, facts: MediaFacts | undefined): Promise<MediaObject | undefined>;
  find(id: string): Promise<MediaObject | undefined>;
  findResult(taskId: string): Promise<MediaObject | undefined>;
  findThumbnail(taskId: string): Promise<MediaObject | undefined>;
  findStaged(accountId: string, taskId: string, reference: string): Promise<MediaObject | undefined>;
  /**
   * Reserves bytes beside the inline bytes of the account and its other uploads; false: the sum would exceed
   * `bytesMax`.
   */
  beginUpload(upload: Upload, now: number, bytesMax: number): Promise<boolean>;
  endUpload(id: string): Promise<void>;
  noteFacts(sha256: string, facts: MediaFacts): Promise<void>;
  /** The contents that are claimed, in an order that stays, behind this storage key; at most so many. */
  claimedBlobs(after: string, limit: number): Promise<readonly Blob[]>;
  /** The claimants of content that is still stored under this key. */
  claimants(blob: StoredUnder, limit: number): Promise<readonly Claimant[]>;
  /** Whether there was one; its thumbnail goes with it. */
  removeResult(taskId: string, now: number): Promise<boolean>;
  /**
   * Ends claims of these purposes, and no others. Returns the keys of bytes that are no longer protected; they are
   * garbage now.
   */
  removeObjects(ids: readonly string[], purposes: readonly Purpose[], now: number): Promise<readonly string[]>;
  /**
   * Ends what was staged for a task, and refuses to stage more for it until `forgetAt`. Returns the keys of bytes that
   * are garbage now. An object that is added at the same moment is either ended or not added.
   */
  endStaging(
    task: { readonly accountId: string; readonly taskId: string },
    now: number,
    forgetAt: number,
  ): Promise<readonly string[]>;
  /** Ends claims whose time is over; gives how many. */
  expireObjects(now: number, limit: number): Promise<number>;
  /** Forgets expired pins, uploads and stagings; returns their number. */
  forgetSpent(now: number, limit: number): Promise<number>;
  /** Forgets results that ended before then; gives how many. */
  forgetObjects(before: number, limit: number): Promise<number>;
  /** Takes unclaimed content out of the books; gives the keys of all that is still to be removed. */
  takeGarbage(now: number, limit: number): Promise<readonly string[]>;
  /** Says that what was under the key is gone. */
  forgetGarbage(key: string): Promise<void>;
}
