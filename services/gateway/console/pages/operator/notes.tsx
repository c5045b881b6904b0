import type { VNode } from 'preact';
import type { NoteList } from '../../api/operator-hand-over.ts';
import type { PageProps } from '../../frame.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { useView } from '../../state/use-view.ts';
import { hrefOfNoted } from './parts/act-list.tsx';
import { NoteSection } from './parts/note-section.tsx';
import { noteWords } from './operator-words.ts';

const words = noteWords.notes;

export function page({ params }: PageProps): VNode {
  const subject = params['subject'] ?? '';
  const view = useView<NoteList>(`/notes?subject=${encodeURIComponent(subject)}`);
  return (
    <>
      <PageTitle title={words.title} back={{ href: hrefOfNoted(subject), name: subject }} />
      <Loaded view={view}>{(list) => <NoteSection subject={subject} list={list} onChanged={view.refresh} />}</Loaded>
    </>
  );
}
