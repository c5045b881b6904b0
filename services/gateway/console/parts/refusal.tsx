import type { ComponentChildren, VNode } from 'preact';
import { useErrorBoundary } from 'preact/hooks';
import type { ApiError } from '../state/api.ts';
import { words } from '../words.ts';

/** Shows why something could not be read, and a way to try again. */
export function Refusal({ error, retry }: { error: ApiError; retry?: () => void }): VNode {
  return (
    <div class="refusal" role="alert">
      <strong>{words.failed.title}</strong>
      <p>{error.message}</p>
      {error.requestId === undefined ? null : (
        <p class="quiet">
          {words.failed.request} <code>{error.requestId}</code>
        </p>
      )}
      {retry === undefined ? null : (
        <button type="button" onClick={retry}>
          {words.tryAgain}
        </button>
      )}
    </div>
  );
}

/** Draws what it holds. If that throws, it says so instead of leaving an empty tab. */
export function Boundary({ children }: { children: ComponentChildren }): VNode {
  const [error] = useErrorBoundary((fault: unknown) => {
    // the console of the browser has the stack, for a report
    reportError(fault);
  }) as readonly [unknown, () => void];
  return error === undefined ? <>{children}</> : <BrokenPage what={words.failedPage} />;
}

/** Says that a page cannot be shown. Only the person at the page tries again, with everything loaded anew. */
export function BrokenPage({ what }: { what: { readonly title: string; readonly text: string } }): VNode {
  return (
    <div class="refusal" role="alert">
      <h1>{what.title}</h1>
      <p>{what.text}</p>
      <button type="button" onClick={() => location.reload()}>
        {words.tryAgain}
      </button>
    </div>
  );
}
