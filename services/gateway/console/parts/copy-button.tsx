import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { words } from '../words.ts';

const SHOWN_MS = 2000;

/** Browsers give pages a clipboard over https and on this machine; elsewhere a text is copied by hand. */
const HAS_CLIPBOARD = typeof document === 'undefined' || 'clipboard' in navigator;

export interface CopyButtonProps {
  readonly text: string;
  /** Names the text for screen readers. */
  readonly what: string;
  /** The text of a button in a row of buttons. Without it the button is small and stands next to the copied text. */
  readonly label?: string;
}

/** Copies a text. */
export function CopyButton({ text, what, label }: CopyButtonProps): VNode | null {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  if (!HAS_CLIPBOARD) return null;
  return (
    <button
      type="button"
      class={label === undefined ? 'copy' : undefined}
      aria-label={label ?? words.copy.what(what)}
      onClick={() => void copy()}
    >
      {isCopied ? words.copy.copied : (label ?? words.copy.copy)}
    </button>
  );
}

/** A text to read and to copy. */
export function CodeBlock({ text, what }: { text: string; what: string }): VNode {
  return (
    <div class="code">
      <CopyButton text={text} what={what} />
      <pre tabindex={0} aria-label={what}>
        {text}
      </pre>
    </div>
  );
}
