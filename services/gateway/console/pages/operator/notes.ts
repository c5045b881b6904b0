import type { NoteList } from '../../api/operator-hand-over.ts';
import type { PageProps } from '../../frame.ts';
import { html } from '../../html.ts';
import type { VNode } from '../../html.ts';
import { Loaded } from '../../parts/loaded.ts';
import { PageTitle } from '../../parts/page-title.ts';
import { useView } from '../../state/use-view.ts';
import { hrefOfNoted } from './parts/act-list.ts';
import { NoteSection } from './parts/note-section.ts';
import { noteWords } from './operator-words.ts';

const words = noteWords.notes;

export function page({ params }: PageProps): VNode {
  const subject = params['subject'] ?? '';
  const view = useView<NoteList>(`/notes?subject=${encodeURIComponent(subject)}`);
  return html`<${PageTitle} title=${words.title} back=${{ href: hrefOfNoted(subject), name: subject }} />
    <${Loaded} view=${view}>
      ${(list: NoteList) => html`<${NoteSection} subject=${subject} list=${list} onChanged=${view.refresh} />`}
    <//>`;
}
