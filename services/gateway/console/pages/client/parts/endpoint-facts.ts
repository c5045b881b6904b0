import type { Endpoint } from '../../../api/webhooks.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { At } from '../../../parts/time.ts';
import { webhooksWords } from '../webhooks-words.ts';
import { EndpointHealth } from './endpoint-health.ts';
import { DEFAULT_ENDPOINT, agoOrNever } from './endpoint-table.ts';

const words = webhooksWords.endpoint;

/** The settings of an endpoint and its health. The secret is shown by its ends alone. */
export function EndpointFacts({ endpoint }: { endpoint: Endpoint }): VNode {
  const { id, url, eventTypes, payload, secretHint, createdAt, lastSuccessAt, lastFailureAt } = endpoint;
  const { facts } = words;
  return html`
    ${
      id === DEFAULT_ENDPOINT
        ? html`<p class="quiet">${webhooksWords.defaultText}</p>`
        : html`<p class="endpoint-state"><${EndpointHealth} endpoint=${endpoint} isLong /></p>`
    }
    <dl class="facts">
      ${
        id === DEFAULT_ENDPOINT
          ? null
          : html`<dt>${facts.url}</dt>
              <dd>${url}</dd>
              <dt>${facts.events}</dt>
              <dd>${eventTypes.join(', ')}</dd>
              <dt>${facts.payload}</dt>
              <dd>${webhooksWords.form.payloads[payload]}</dd>
              <dt>${facts.success}</dt>
              <dd>${agoOrNever(lastSuccessAt)}</dd>
              <dt>${facts.failure}</dt>
              <dd>${agoOrNever(lastFailureAt)}</dd>`
      }
      <dt>${facts.secret}</dt>
      <dd>${secretHint === '' ? words.noSecret : html`<code>${secretHint}</code>`}</dd>
      ${
        createdAt === undefined
          ? null
          : html`<dt>${facts.created}</dt>
              <dd><${At} at=${createdAt} /></dd>`
      }
    </dl>
  `;
}
