import type { Problem } from '@reelgate/platform/problem';
import type { ChangePosition } from '../../store/task-store.ts';
import { refuse } from '../../refusals.ts';

/** The position at which a watch of an account goes on: everything that changed before `since` has been sent. */
export interface AccountCursor {
  readonly since: number;
  /** Set while the unfinished tasks of the beginning are being sent: those up to here have been sent. */
  readonly sentUpTo?: ChangePosition | undefined;
}

const LENGTH_MAX = 200;
/** The first character names the version of the form. */
const TASK = /^1t([0-9a-z]{1,11})$/;
const ACCOUNT = /^1a([0-9a-z]{1,11})(?:,([0-9a-z]{1,11}),([0-9a-z_]{0,64}))?$/;
const NUMBERS = 36;

/** The cursor of a task is its version. */
export function toTaskCursor(version: number): string {
  return encodeCursor(`1t${version.toString(NUMBERS)}`);
}

export function fromTaskCursor(cursor: string): number | undefined {
  if (cursor === '') return undefined;
  const [, version] = TASK.exec(decodeCursor(cursor)) ?? [];
  if (version === undefined) throw badCursor('WatchTask');
  return Number.parseInt(version, NUMBERS);
}

export function toAccountCursor({ since, sentUpTo }: AccountCursor): string {
  const beginning = sentUpTo === undefined ? '' : `,${sentUpTo.at.toString(NUMBERS)},${sentUpTo.id}`;
  return encodeCursor(`1a${since.toString(NUMBERS)}${beginning}`);
}

export function fromAccountCursor(cursor: string): AccountCursor | undefined {
  if (cursor === '') return undefined;
  const [, since, at, id] = ACCOUNT.exec(decodeCursor(cursor)) ?? [];
  if (since === undefined) throw badCursor('WatchTasks');
  return {
    since: Number.parseInt(since, NUMBERS),
    sentUpTo: at === undefined ? undefined : { at: Number.parseInt(at, NUMBERS), id: id ?? '' },
  };
}

/** Keeps callers from reading a meaning into the text. */
function encodeCursor(text: string): string {
  return Buffer.from(text).toString('base64url');
}

function decodeCursor(cursor: string): string {
  return cursor.length > LENGTH_MAX ? '' : Buffer.from(cursor, 'base64url').toString();
}

function badCursor(method: string): Problem {
  return refuse('invalid_request', {
    field: 'cursor',
    message: `must be empty or the cursor of an earlier message of ${method}`,
  });
}
