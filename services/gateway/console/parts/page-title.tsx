import type { ComponentChildren, VNode } from 'preact';
import { useLiveSwitch } from '../state/live.ts';
import { useOutage } from '../state/outage.ts';
import { words } from '../words.ts';

export interface PageTitleProps {
  readonly title: ComponentChildren;
  /** The id of what the page shows, behind its name. */
  readonly id?: string | undefined;
  /** The page above this one. */
  readonly back?: { readonly href: string; readonly name: string };
  /** The state or the id of what the page shows, beside its name. */
  readonly beside?: ComponentChildren;
  /** The buttons that act on the whole page. */
  readonly actions?: ComponentChildren;
  /** A sentence about the page. */
  readonly lead?: ComponentChildren;
}

/** The head of every page: its name, the live badge, and what can be done with all of it. */
export function PageTitle({ title, id, back, beside, actions, lead }: PageTitleProps): VNode {
  return (
    <div class="page-title">
      {back === undefined ? null : (
        <p class="back">
          <a href={back.href}>← {back.name}</a>
        </p>
      )}
      <div class="page-title-line">
        <h1>
          {title}
          {id === undefined ? null : (
            <>
              {' '}
              <span class="id">{id}</span>
            </>
          )}
        </h1>
        {beside}
        <div class="page-title-end">
          <LiveBadge />
          {actions}
        </div>
      </div>
      {lead === undefined ? null : <p class="lead">{lead}</p>}
    </div>
  );
}

/** Says how the page follows changes, and pauses it. This is its one place. */
function LiveBadge(): VNode | null {
  const { state, toggle } = useLiveSwitch();
  const outage = useOutage();
  if (state === 'none') return null;
  // an outage stops the updates, unless only a part of the page has one
  const isOff = outage !== undefined && (outage.kind === 'silent' ? state !== 'paused' : state === 'polling');
  return (
    <button
      type="button"
      class={state === 'live' && !isOff ? 'live connected' : `live ${state}`}
      aria-pressed={state === 'paused'}
      title={state === 'paused' ? words.live.resume : words.live.pause}
      onClick={toggle}
    >
      {isOff ? words.live.off : words.live[state]}
    </button>
  );
}
