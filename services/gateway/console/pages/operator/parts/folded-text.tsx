import type { VNode } from 'preact';
import { useId, useState } from 'preact/hooks';
import { evidenceWords } from '../evidence-words.ts';

/** A longer text is cut until a reader asks for all of it. It then scrolls in its own place. */
const SHOWN_CHARACTERS = 600;

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
