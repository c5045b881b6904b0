import { useState } from 'preact/hooks';
import { html } from '../html.ts';
import type { VNode } from '../html.ts';
import { words } from '../words.ts';

const SHOWN_MS = 2000;

/** Browsers give pages a clipboard over https and on this machine; elsewhere a text is copied by hand. */
const HAS_CLIPBOARD = typeof document === 'undefined' || 'clipboard' in navigator;

/** Copies a text. `what` names it for screen readers. */
export function CopyButton({ text, what }: { text: string; what: string }): VNode | null {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => {
      setCopied(false);
    }, SHOWN_MS);
  };
  if (!HAS_CLIPBOARD) return null;
  return html`<button type="button" class="copy" aria-label=${words.copy.what(what)} onClick=${() => void copy()}>
    ${isCopied ? words.copy.copied : words.copy.copy}
  </button>`;
}

/** A text to read and to copy. */
export function CodeBlock({ text, what }: { text: string; what: string }): VNode {
  return html`<div class="code">
    <${CopyButton} text=${text} what=${what} />
    <pre tabindex="0" aria-label=${what}>${text}</pre>
  </div>`;
}
