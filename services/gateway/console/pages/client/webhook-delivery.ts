import type { Attempt, DeliveryView } from '../../api/webhooks.ts';
import { useAct } from '../../data/use-act.ts';
import { useRefreshWhile } from '../../data/refresh-while.ts';
import { serverNow } from '../../data/server-clock.ts';
import { useView } from '../../data/use-view.ts';
import type { PageProps } from '../../frame.ts';
import { html } from '../../html.ts';
import type { VNode } from '../../html.ts';
import { isDueSoon } from './parts/due-soon.ts';
import { Loaded } from '../../parts/loaded.ts';
import { At } from '../../parts/time.ts';
import { AttemptCard } from './parts/attempt-card.ts';
import { DeliveryState } from './parts/delivery-state.ts';
import { SubjectLink } from './parts/subject-link.ts';
import { webhooksWords } from './words/webhooks.ts';

const words = webhooksWords.delivery;

export function page({ params }: PageProps): VNode {
  const endpoint = encodeURIComponent(params['endpointId'] ?? '');
  const id = params['deliveryId'] ?? '';
  const view = useView<DeliveryView>(`/webhooks/${endpoint}/${encodeURIComponent(id)}`, ['webhooks']);
  return html`
    <p class="above"><a href=${`/console/webhooks/${endpoint}`}>${words.back}</a></p>
    <div class="heading">
      <h1>${words.title} <span class="id">${id}</span></h1>
    </div>
    <${Loaded} view=${view}>
      ${(shown: DeliveryView) => html`<${DeliveryPage} view=${shown} onChanged=${view.refresh} />`}
    <//>
  `;
}

/** What was sent, and each attempt with what the receiver said. */
export function DeliveryPage({ view, onChanged }: { view: DeliveryView; onChanged: () => void }): VNode {
  const { delivery, canChange } = view;
  const { state, eventType, eventId, subjectId, url, createdAt, nextAttemptAt, endedAt, attempts } = delivery;
  const { facts } = words;
  useRefreshWhile(isDueSoon(delivery, serverNow()), onChanged);
  const rows: readonly (readonly [string, unknown])[] = [
    [facts.state, html`<${DeliveryState} state=${state} />`],
    [facts.event, eventType],
    [facts.eventId, html`<span class="id">${eventId}</span> <span class="quiet">${words.eventIdHint}</span>`],
    [facts.subject, html`<${SubjectLink} id=${subjectId} />`],
    [facts.url, url],
    [facts.created, html`<${At} at=${createdAt} />`],
    ...(nextAttemptAt === undefined ? [] : [[facts.next, html`<${At} at=${nextAttemptAt} />`] as const]),
    ...(endedAt === undefined ? [] : [[facts.ended, html`<${At} at=${endedAt} />`] as const]),
  ];
  return html`
    <dl class="facts">
      ${rows.map(
        ([name, value]) =>
          html`<dt key=${name}>${name}</dt>
            <dd>${value}</dd>`,
      )}
    </dl>
    ${canChange ? html`<${Resend} id=${delivery.id} isPending=${state === 'pending'} onChanged=${onChanged} />` : null}
    <h2>${words.attempts}</h2>
    ${attempts.length === 0 ? html`<p class="quiet">${words.noAttempts}</p>` : null}
    <ol class="attempts" reversed>
      ${attempts
        .toReversed()
        .map((attempt: Attempt) => html`<li key=${attempt.number}><${AttemptCard} attempt=${attempt} /></li>`)}
    </ol>
  `;
}

/** A pending delivery is hurried, another one begins anew. */
function Resend({ id, isPending, onChanged }: { id: string; isPending: boolean; onChanged: () => void }): VNode {
  const { act, isBusy, fault, answer } = useAct<unknown>(onChanged);
  return html`<div>
    <p class="actions">
      <button
        type="button"
        disabled=${isBusy}
        onClick=${() => {
          act(`/v1/webhook_deliveries/${encodeURIComponent(id)}/resend`);
        }}
      >
        ${isPending ? words.hurry : words.resend}
      </button>
      <span role="status">${answer === undefined ? '' : words.resent}</span>
    </p>
    <p class="fault" role="alert">${fault?.message ?? ''}</p>
  </div>`;
}
