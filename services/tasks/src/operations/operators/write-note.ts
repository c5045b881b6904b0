import type { Problem } from '@reelgate/platform/problem';
import type { Clock } from '@reelgate/platform/clock';
import type { Note } from '@reelgate/proto/tasks/v1/operator_service';
import { NOTES_MAX } from '../../store/operator-store.ts';
import type { NewNote, NoteStore } from '../../store/operator-store.ts';
import { refuse } from '../../refusals.ts';

export interface NoteDeps {
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
