import type { ComponentChildren, VNode } from 'preact';
import { useErrorBoundary } from 'preact/hooks';
import type { ApiError } from '../state/api.ts';
import { isOutage, useOutage } from '../state/outage.ts';
import type { Outage } from '../state/outage.ts';
import type { View } from '../state/use-view.ts';
import { words } from '../words.ts';
import { clockText } from './time.tsx';

export interface LoadedProps<T> {
  readonly view: View<T>;
  /** Views of the same page. Nothing is drawn until each is read or refused, so the page does not move. */
  readonly alongside?: readonly Pick<View<unknown>, 'data' | 'error'>[];
  /** The form of what will be drawn, shown while it is read. */
  readonly shape?: SkeletonProps;
  readonly children: (data: T) => VNode;
}

/**
 * Draws a view once it is read. A failed refresh is told above what was read before, an outage in the banner of the
 * page: what was read before it is marked as old.
 */
export function Loaded<T>({ view, alongside = [], shape = {}, children }: LoadedProps<T>): VNode {
  const { error, refresh } = view;
  const isWhole = alongside.every((other) => other.data !== undefined || other.error !== undefined);
  const data = isWhole ? view.data : undefined;
  const isSilent = useOutage()?.kind === 'silent';
  const isOut = isSilent || (error !== undefined && isOutage(error));
  return (
    <>
      {error === undefined || isOut ? null : <Refusal error={error} retry={refresh} />}
      {data === undefined ? (
        <NothingRead isOut={isOut} view={isWhole ? view : { ...view, isLoading: true }} shape={shape} />
      ) : (
        <>
          {isOut ? <OldMark readAt={view.readAt} /> : null}
          <div class={isOut ? 'loaded old' : 'loaded'}>{children(data)}</div>
        </>
      )}
    </>
  );
}

function NothingRead({
  isOut,
  view,
  shape,
}: {
  isOut: boolean;
  view: View<unknown>;
  shape: SkeletonProps;
}): VNode | null {
  if (!isOut) return view.isLoading ? <Skeleton {...shape} /> : null;
  return (
    <>
      <p>{words.outage.nothing}</p>
      <button type="button" onClick={view.refresh}>
        {words.tryAgain}
      </button>
    </>
  );
}

function OldMark({ readAt }: { readAt: number | undefined }): VNode | null {
  return readAt === undefined ? null : <p class="old-mark">{words.outage.asOf(clockText(readAt))}</p>;
}

/**
 * The one banner of a page whose server is gone or has a fault. Its text stays the same from try to try, so a screen
 * reader speaks it once. The element stays without an outage, because only a change inside it is spoken.
 */
export function OutageBanner({ outage }: { outage: Outage | undefined }): VNode {
  return (
    <div role="status" class={outage === undefined ? 'outage-place' : 'outage-place outage'}>
      {outage === undefined ? null : (
        <p>
          <span aria-hidden="true">▲</span> {outageText(outage)}
        </p>
      )}
    </div>
  );
}

/** Says what is wrong, since when, and how old what the page shows is. */
export function outageText({ kind, status, since }: Outage): string {
  const { silent, slow, failing } = words.outage;
  const time = since === undefined ? undefined : clockText(since);
  if (kind === 'failing') return failing(status, time);
  return kind === 'slow' ? slow(time) : silent(time);
}

export interface SkeletonProps {
  /** The form of what is being read. */
  readonly of?: 'rows' | 'cards' | 'text';
  readonly count?: number;
}

/** The place of what is being read. Screen readers hear a word instead. */
export function Skeleton({ of = 'rows', count = 4 }: SkeletonProps): VNode {
  return (
    <div class={`skeleton ${of}`}>
      <span class="spoken">{words.loading}</span>
      {Array.from({ length: count }, (_none, at) => (
        <i key={at} aria-hidden="true" />
      ))}
    </div>
  );
}

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

/** The fault of an act. The element stays without a fault, because only a change inside it is spoken. */
export function FaultLine({ text }: { text: string | undefined }): VNode {
  return (
    <p class="fault" role="alert">
      {text}
    </p>
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
