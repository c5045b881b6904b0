import { html } from '../html.ts';
import type { VNode } from '../html.ts';
import { CopyButton } from './copy-button.ts';

/** A text to read and to copy. */
export function CodeBlock({ text, what }: { text: string; what: string }): VNode {
  return html`<div class="code">
    <${CopyButton} text=${text} what=${what} />
    <pre tabindex="0" aria-label=${what}>${text}</pre>
  </div>`;
}
