import { useErrorBoundary } from 'preact/hooks';
import { html } from '../html.ts';
import type { ComponentChildren, VNode } from '../html.ts';
import { words } from '../words.ts';

/** Draws what it holds. If that throws, it says so instead of leaving an empty tab. */
export function Boundary({ children }: { children: ComponentChildren }): VNode {
  const [error] = useErrorBoundary((fault: unknown) => {
    // the console of the browser has the stack, for a report
    reportError(fault);
  }) as readonly [unknown, () => void];
  return error === undefined ? html`${children}` : html`<${BrokenPage} what=${words.failedPage} />`;
}

/** Says that a page cannot be shown. Only the person at the page tries again, with everything loaded anew. */
export function BrokenPage({ what }: { what: { readonly title: string; readonly text: string } }): VNode {
  return html`<div class="refusal" role="alert">
    <h1>${what.title}</h1>
    <p>${what.text}</p>
    <button type="button" onClick=${() => location.reload()}>${words.tryAgain}</button>
  </div>`;
}
