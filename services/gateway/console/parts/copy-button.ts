import { useState } from 'preact/hooks';
import { html } from '../html.ts';
import type { VNode } from '../html.ts';
import { words } from '../words.ts';

const SHOWN_MS = 2000;

/** Copies a text. `what` names it for screen readers. */
export function CopyButton({ text, what }: { text: string; what: string }): VNode {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => {
      setCopied(false);
    }, SHOWN_MS);
  };
  return html`<button type="button" class="copy" aria-label=${words.copy.what(what)} onClick=${() => void copy()}>
    ${isCopied ? words.copy.copied : words.copy.copy}
  </button>`;
}
