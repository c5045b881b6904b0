/** One session that ends, or all sessions that a subject has begun until now. */
export interface SessionEnd {
  readonly subject: string;
  /** Undefined for all sessions of the subject. */
  readonly session: { readonly digest: string; readonly expiresAt: number } | undefined;
}

export interface EndedSessions extends SessionEnd {
  /** The version that ended it. Without a session, all of the subject that began before this version have ended. */
  readonly version: number;
}

/** The sessions that have ended since a version. */
export interface EndedList {
  readonly version: number;
  /** Every session that began before this version has ended. */
  readonly allBefore: number;
  readonly ended: readonly EndedSessions[];
}

export interface SessionBounds {
  /** The most ended sessions of a subject. One more ends all of the subject, which takes one row. */
  readonly ofSubjectMax: number;
  /** The most rows. One more ends every session, which takes no row. */
  readonly rowsMax: number;
  /** Rows of sessions that expired before this time are not needed. */
  readonly expiredBefore: number;
}

export interface SessionStore {
  /** Returns the version that ended it. Can be repeated. */
  end(ending: SessionEnd, bounds: SessionBounds): Promise<number>;
  /** One state of the list, even if sessions end meanwhile. */
  list(since: number): Promise<EndedList>;
  /** Removes the rows of sessions that expired before this time. Returns their number. */
  removeExpired(before: number): Promise<number>;
}
