import type { ComponentChildren, VNode } from 'preact';
import type { PageProps } from '../../frame.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { handOverWords } from './hand-over-words.ts';

/** The sections of deploy/README.md, by their alerts. The transform of the pages writes them in place of this name. */
declare const RUNBOOK: Readonly<Record<string, string>>;

const words = handOverWords.runbook;
/** Code between backquotes, or a link. */
const MARKED = /`([^`]+)`|\[([^\]]+)\]\(([^)]+)\)/g;

/** The section of the runbook about an alert. It is a part of the console, which runs in closed networks too. */
export function page({ params }: PageProps): VNode {
  const alert = params['alert'] ?? '';
  const section = Object.hasOwn(RUNBOOK, alert) ? RUNBOOK[alert] : undefined;
  return (
    <>
      <PageTitle title={words.title} id={alert} />
      {section === undefined ? <EmptyState title={words.unknown} /> : <Section text={section} />}
    </>
  );
}

/** Paragraphs, and lists of lines that begin with a hyphen. */
export function Section({ text }: { text: string }): VNode {
  return (
    <div class="runbook">
      {text.split(/\n{2,}/).map((block) =>
        block.startsWith('- ') ? (
          <ul key={block}>
            {block.split(/\n(?=- )/).map((item) => (
              <li key={item}>{renderMarked(item.slice(2))}</li>
            ))}
          </ul>
        ) : (
          <p key={block}>{renderMarked(block)}</p>
        ),
      )}
    </div>
  );
}

function renderMarked(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const found of text.matchAll(MARKED)) {
    const [whole, code, name = '', target = ''] = found;
    parts.push(text.slice(end, found.index), code === undefined ? renderLink(name, target) : <code>{code}</code>);
    end = found.index + whole.length;
  }
  return [...parts, text.slice(end)];
}

/** A link to another alert leads to its section; other documents are not at hand here. */
function renderLink(name: string, target: string): ComponentChildren {
  const alert = Object.keys(RUNBOOK).find((one) => target === `#${one.toLowerCase()}`);
  return alert === undefined ? name : <a href={`/console/runbooks/${alert}`}>{name}</a>;
}
