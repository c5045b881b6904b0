import { isOutage, useOutage } from '../state/outage.ts';
import type { Outage } from '../state/outage.ts';
import type { View } from '../state/use-view.ts';
import { html } from '../html.ts';
import type { VNode } from '../html.ts';
import { words } from '../words.ts';
import { Refusal } from './refusal.ts';
import { clockText } from './time.ts';

/**
 * Draws a view once it is read. A failed refresh is told above what was read before, an outage in the banner of the
 * page: what was read before it is marked as old.
 */
export function Loaded<T>({ view, children }: { view: View<T>; children: (data: T) => VNode }): VNode {
  const { data, error, refresh } = view;
  const isSilent = useOutage()?.kind === 'silent';
  const isOut = isSilent || (error !== undefined && isOutage(error));
  return html`
    ${error === undefined || isOut ? null : html`<${Refusal} error=${error} retry=${refresh} />`}
    ${
      data === undefined
        ? html`<${NothingRead} isOut=${isOut} view=${view} />`
        : html`
            ${isOut ? html`<${OldMark} readAt=${view.readAt} />` : null}
            <div class=${isOut ? 'loaded old' : 'loaded'}>${children(data)}</div>
          `
    }
  `;
}

function NothingRead({ isOut, view }: { isOut: boolean; view: View<unknown> }): VNode | null {
  if (!isOut) return view.isLoading ? html`<p class="quiet">${words.loading}</p>` : null;
  return html`<p>${words.outage.nothing}</p>
    <button type="button" onClick=${view.refresh}>${words.tryAgain}</button>`;
}

function OldMark({ readAt }: { readAt: number | undefined }): VNode | null {
  return readAt === undefined ? null : html`<p class="old-mark">${words.outage.asOf(clockText(readAt))}</p>`;
}

/**
 * The one banner of a page whose server is gone or has a fault. Its text stays the same from try to try, so a screen
 * reader speaks it once. The element stays without an outage, because only a change inside it is spoken.
 */
export function OutageBanner({ outage }: { outage: Outage | undefined }): VNode {
  return html`<div role="status" class=${outage === undefined ? 'outage-place' : 'outage-place outage'}>
    ${outage === undefined ? null : html`<p><span aria-hidden="true">▲</span> ${outageText(outage)}</p>`}
  </div>`;
}

/** Says what is wrong, since when, and how old what the page shows is. */
export function outageText({ kind, status, since }: Outage): string {
  const { silent, slow, failing } = words.outage;
  const time = since === undefined ? undefined : clockText(since);
  if (kind === 'failing') return failing(status, time);
  return kind === 'slow' ? slow(time) : silent(time);
}
