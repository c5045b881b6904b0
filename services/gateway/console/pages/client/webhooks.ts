import { useState } from 'preact/hooks';
import type { EndpointList } from '../../api/webhooks.ts';
import { useMe } from '../../state/door.ts';
import { useView } from '../../state/use-view.ts';
import { html } from '../../html.ts';
import type { VNode } from '../../html.ts';
import { PageTitle } from '../../parts/page-title.ts';
import { Loaded } from '../../parts/loaded.ts';
import { SecretOnce } from '../../parts/secret-once.ts';
import { EndpointForm } from './parts/endpoint-form.ts';
import type { EndpointAnswer } from './parts/endpoint-form.ts';
import { EndpointTable } from './parts/endpoint-table.ts';
import { webhooksWords as words } from './webhooks-words.ts';

export function page(): VNode {
  const { webhooks } = useMe();
  return html`<${PageTitle} title=${words.title} lead=${words.intro} />
    ${webhooks === 'none' ? html`<p class="note">${words.noRight}</p>` : html`<${Endpoints} />`}`;
}

function Endpoints(): VNode {
  const view = useView<EndpointList>('/webhooks', ['webhooks']);
  return html`<${Loaded} view=${view}>
    ${(list: EndpointList) => html`<${EndpointsPage} list=${list} onChanged=${view.refresh} />`}
  <//>`;
}

/** The secret of a new endpoint stands above the list until it is put away. */
export function EndpointsPage({ list, onChanged }: { list: EndpointList; onChanged: () => void }): VNode {
  const [made, setMade] = useState<EndpointAnswer | undefined>(undefined);
  return html`
    ${
      made === undefined
        ? null
        : html`<${SecretOnce}
            title=${words.secret.title(made.name)}
            text=${words.secret.text}
            secret=${made.signing_secret ?? ''}
            what=${words.secret.what}
            done=${words.secret.done}
            onDone=${() => {
              setMade(undefined);
            }}
          />`
    }
    <${EndpointTable} endpoints=${list.endpoints} />
    ${
      list.canChange
        ? html`<section>
            <h2>${words.form.create}</h2>
            <${EndpointForm}
              eventTypes=${list.eventTypes}
              path="/v1/webhook_endpoints"
              submit=${words.form.submit}
              onDone=${(endpoint: EndpointAnswer) => {
                setMade(endpoint);
                onChanged();
              }}
            />
          </section>`
        : html`<p class="quiet">${words.readOnly}</p>`
    }
  `;
}
