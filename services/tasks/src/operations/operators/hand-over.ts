import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Clock } from '@reelgate/platform/clock';
import { toMessage, toTimestamp } from '@reelgate/platform/rpc/whole-message';
import { GetHandOverResponseSchema } from '@reelgate/proto/tasks/v1/operator_service';
import type { GetHandOverResponse, Note } from '@reelgate/proto/tasks/v1/operator_service';
import { NOTES_MAX } from '../../store/operator-store.ts';
import type { HandOverStore, NewNote, NoteStore } from '../../store/operator-store.ts';
import type { Problem } from '@reelgate/platform/problem';
import { refuse } from '../../refusals.ts';

const DAY_MS = 24 * 3_600_000;
/** An operator who has never read, or not for long, reads the last week. */
const LONGEST_MS = 7 * DAY_MS;
const EVENTS_MAX = 200;
const RAISED_MAX = 100;

interface HandOverDeps {
  readonly operators: HandOverStore;
  readonly clock: Clock;
}

/** Reads the events and the questions since an operator read last. */
export async function readHandOver({ operators, clock }: HandOverDeps, actor: string): Promise<GetHandOverResponse> {
  const now = clock.now();
  const readUntil = await operators.findMark(actor);
  const since = Math.max(readUntil ?? 0, now - LONGEST_MS);
  const [events, raised] = await Promise.all([
    operators.listServiceEvents(since, EVENTS_MAX + 1),
    operators.raisedSince(since, RAISED_MAX + 1),
  ]);
  return toMessage(GetHandOverResponseSchema, {
    now: timestampFromMs(now),
    since: timestampFromMs(since),
    readUntil: toTimestamp(readUntil),
    events: events.slice(0, EVENTS_MAX),
    raised: raised.slice(0, RAISED_MAX),
    hasMore: events.length > EVENTS_MAX || raised.length > RAISED_MAX,
  });
}

/** Records how far an operator has read, which is never later than now. Returns the mark. */
export function markRead({ operators, clock }: HandOverDeps, actor: string, until: number): Promise<number> {
  return operators.putMark(actor, Math.min(until, clock.now()));
}

interface NoteDeps {
  readonly operators: NoteStore;
  readonly clock: Clock;
  /** Reports whether there is such a channel, task or job. */
  readonly isKnown: (subject: string) => Promise<boolean>;
}

const subjectNotFound = (): Problem =>
  refuse('note_subject_not_found', { field: 'subject', message: 'must be the id of a channel, a task or a job' });

const noteNotFound = (): Problem => refuse('note_not_found');

/** Writes a note for the next operator. The same note again is the first one. */
export async function addNote(
  { operators, clock, isKnown }: NoteDeps,
  { subject, author, text }: Omit<NewNote, 'at'>,
): Promise<Note> {
  if (!(await isKnown(subject))) throw subjectNotFound();
  const note = await operators.addNote({ subject, author, text, at: clock.now() });
  if (note !== undefined) return note;
  throw refuse('too_many_notes', { message: `there are ${NOTES_MAX} notes already; resolve one first` });
}

/** Resolves a note, which any operator may. Of several at one moment, one does. */
export async function resolveNote(
  { operators, clock }: NoteDeps,
  { id, actor }: { readonly id: string; readonly actor: string },
): Promise<void> {
  if (!(await operators.endNote({ id, actor, at: clock.now(), action: 'note_resolved' }))) throw noteNotFound();
}

/** Deletes a note, which only its author may. */
export async function deleteNote(
  { operators, clock }: NoteDeps,
  { id, actor }: { readonly id: string; readonly actor: string },
): Promise<void> {
  const note = await operators.findNote(id);
  if (note === undefined) throw noteNotFound();
  if (note.author !== actor) throw refuse('note_of_another');
  if (!(await operators.endNote({ id, actor, at: clock.now(), action: 'note_deleted' }))) throw noteNotFound();
}
