import type { VNode } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { OperatorTaskView } from '../../../api/operator-tasks.ts';
import type { Reference } from '../../../api/task.ts';
import { Facts } from '../../../parts/data-table.tsx';
import { ExternalLink } from '../../../parts/links.tsx';
import { recordWords } from '../record-words.ts';
import { orderLine } from './task-facts.tsx';
import { listLeaves } from './value-tree.tsx';
import { evidenceWords } from '../evidence-words.ts';

const words = recordWords.task;
/** A longer text is cut until a reader asks for all of it. It then scrolls in its own place. */
const SHOWN_CHARACTERS = 600;

/** Shows the client's order: the prompt, the media and the settings. */
export function TaskOrder({ task, text }: { task: OperatorTaskView['task']; text: string | undefined }): VNode {
  const { fullPrompt } = task;
  return (
    <>
      <p>{orderLine(task)}</p>
      <FoldedText text={fullPrompt === '' ? words.noPrompt : fullPrompt} name={words.order} />
      {text === undefined ? null : (
        <>
          <h3>{words.answer}</h3>
          <FoldedText text={text} name={words.answer} />
        </>
      )}
      <OrderMedia task={task} />
    </>
  );
}

/** The media and the settings of an order. */
export function OrderMedia({ task: { references, settings } }: { task: OperatorTaskView['task'] }): VNode | null {
  const set = Object.keys(settings).length === 0 ? [] : listLeaves(settings);
  if (references.length === 0 && set.length === 0) return null;
  return (
    <Facts
      facts={[
        ...references.map(
          (reference) =>
            [(reference.role || reference.kind).replaceAll('_', ' '), <Source reference={reference} />] as const,
        ),
        ...set.map(({ path, text }) => [path, text] as const),
      ]}
    />
  );
}

function Source({ reference: { kind, url } }: { reference: Reference }): VNode {
  return url === undefined ? <>{words.sentBytes(kind)}</> : <ExternalLink url={url} />;
}

/** A text of a client, such as a prompt of many thousand characters. */
export function FoldedText({ text, name }: { text: string; name: string }): VNode {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const characters = [...text];
  if (characters.length <= SHOWN_CHARACTERS) return <blockquote>{text}</blockquote>;
  const words = evidenceWords.folded;
  return (
    <div>
      {isOpen ? (
        <blockquote id={id} class="scrolls" tabindex={0} role="region" aria-label={name}>
          {text}
        </blockquote>
      ) : (
        <blockquote id={id}>{characters.slice(0, SHOWN_CHARACTERS).join('')}…</blockquote>
      )}
      <button
        type="button"
        class="quiet"
        aria-expanded={isOpen ? 'true' : 'false'}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? words.less : words.more(characters.length.toLocaleString('en'))}
      </button>
    </div>
  );
}
