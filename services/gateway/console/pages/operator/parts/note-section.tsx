import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { RpcAnswer } from '../../../api/calls.ts';
import { readTime } from '../../../parts/contract-values.ts';
import { TextField } from '../../../parts/text-field.tsx';
import { Ago } from '../../../parts/time.tsx';
import { FaultLine } from '../../../parts/loaded.tsx';
import { announce } from '../../../state/announce.ts';
import { useRpc } from '../../../state/calls.ts';
import { noteWords } from '../operator-words.ts';
import { useOperator } from './use-operator.ts';

const words = noteWords.notes;
const TEXT_SPOKEN = 40;
/** The most characters of a note. */
const NOTE_MAX = 1000;

export type OperatorNote = RpcAnswer<'tasks.OperatorService/ListNotes'>['notes'][number];

export interface NoteSectionProps {
  readonly subject: string;
  readonly notes: readonly OperatorNote[];
  readonly onChanged: () => void;
}

/** The notes on a channel, a task or a job, and the form for the next one. */
export function NoteSection({ subject, notes, onChanged }: NoteSectionProps): VNode {
  const { name: you, covers } = useOperator();
  const canWrite = covers('operator');
  return (
    <section class="notes" id="notes" tabindex={-1}>
      <h2>{words.title}</h2>
      {notes.length === 0 ? (
        <p class="quiet">{words.none}</p>
      ) : (
        <ul class="plain">
          {notes.map((note) => (
            <Note key={note.id} note={note} canWrite={canWrite} you={you} onChanged={onChanged} />
          ))}
        </ul>
      )}
      {canWrite ? <NewNote subject={subject} onChanged={onChanged} /> : null}
    </section>
  );
}

interface NoteProps {
  readonly note: OperatorNote;
  readonly canWrite: boolean;
  readonly you: string;
  readonly onChanged: () => void;
}

function Note({ note: { id, at, author, text }, canWrite, you, onChanged }: NoteProps): VNode {
  const resolving = useRpc('tasks.OperatorService/ResolveNote', () => {
    announce(words.did.resolve);
    onChanged();
  });
  const deleting = useRpc('tasks.OperatorService/DeleteNote', () => {
    announce(words.did.remove);
    onChanged();
  });
  const spoken = <span class="spoken"> {words.which(text.slice(0, TEXT_SPOKEN))}</span>;
  const fault = resolving.fault ?? deleting.fault;
  return (
    <li class="card">
      <p class="note-text">{text}</p>
      <div class="note-foot">
        <span class="small quiet">
          {words.of(author)}, <Ago at={readTime(at) ?? 0} />
        </span>
        {canWrite ? (
          <span class="actions">
            <button type="button" disabled={resolving.isBusy} onClick={() => resolving.act({ id })}>
              {words.resolve}
              {spoken}
            </button>
            {author === you ? (
              <button type="button" disabled={deleting.isBusy} onClick={() => deleting.act({ id })}>
                {words.remove}
                {spoken}
              </button>
            ) : null}
          </span>
        ) : null}
      </div>
      <FaultLine text={fault?.message} />
    </li>
  );
}

function NewNote({ subject, onChanged }: Pick<NoteSectionProps, 'subject' | 'onChanged'>): VNode {
  const [text, setText] = useState('');
  const { act, isBusy, fault } = useRpc('tasks.OperatorService/AddNote', () => {
    setText('');
    announce(words.did.add);
    onChanged();
  });
  return (
    <form
      class="narrow wide"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') act({ subject, text: text.trim() });
      }}
    >
      <TextField
        label={words.label}
        hint={words.hint(NOTE_MAX)}
        fault={fault?.message}
        rows={2}
        charactersMax={NOTE_MAX}
        value={text}
        onInput={setText}
      />
      <div class="actions">
        <button type="submit" disabled={isBusy}>
          {words.add}
        </button>
      </div>
    </form>
  );
}
