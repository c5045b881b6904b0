import type { VNode } from 'preact';
import type { PageProps } from '../../frame.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { toCall, useCalls } from '../../state/calls.ts';
import { hrefOfNoted } from './parts/act-list.tsx';
import { NoteSection } from './parts/note-section.tsx';
import { noteWords } from './operator-words.ts';

const words = noteWords.notes;

export function page({ params }: PageProps): VNode {
  const subject = params['subject'] ?? '';
  const view = useCalls({ list: toCall('tasks.OperatorService/ListNotes', { subject }) });
  return (
    <>
      <PageTitle title={words.title} back={{ href: hrefOfNoted(subject), name: subject }} />
      <Loaded view={view}>
        {({ list }) => <NoteSection subject={subject} notes={list.notes} onChanged={view.refresh} />}
      </Loaded>
    </>
  );
}
