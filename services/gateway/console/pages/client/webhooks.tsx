import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { EndpointList } from '../../api/webhooks.ts';
import { useMe } from '../../state/door.ts';
import { useView } from '../../state/use-view.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { EndpointForm } from './parts/endpoint-form.tsx';
import type { EndpointAnswer } from './parts/endpoint-form.tsx';
import { EndpointTable } from './parts/endpoint-table.tsx';
import { webhooksWords as words } from './webhooks-words.ts';

export function page(): VNode {
  const { webhooks } = useMe();
  return (
    <>
      <PageTitle title={words.title} lead={words.intro} />
      {webhooks === 'none' ? <p class="note">{words.noRight}</p> : <Endpoints />}
    </>
  );
}

function Endpoints(): VNode {
  const view = useView<EndpointList>('/webhooks', ['webhooks']);
  return <Loaded view={view}>{(list) => <EndpointsPage list={list} onChanged={view.refresh} />}</Loaded>;
}

/** The secret of a new endpoint stands above the list until it is put away. */
export function EndpointsPage({ list, onChanged }: { list: EndpointList; onChanged: () => void }): VNode {
  const [made, setMade] = useState<EndpointAnswer | undefined>(undefined);
  return (
    <>
      {made === undefined ? null : (
        <SecretOnce
          title={words.secret.title(made.name)}
          text={words.secret.text}
          secret={made.signing_secret ?? ''}
          what={words.secret.what}
          done={words.secret.done}
          onDone={() => setMade(undefined)}
        />
      )}
      <EndpointTable endpoints={list.endpoints} />
      {list.canChange ? (
        <section>
          <h2>{words.form.create}</h2>
          <EndpointForm
            eventTypes={list.eventTypes}
            path="/v1/webhook_endpoints"
            submit={words.form.submit}
            onDone={(endpoint) => {
              setMade(endpoint);
              onChanged();
            }}
          />
        </section>
      ) : (
        <p class="quiet">{words.readOnly}</p>
      )}
    </>
  );
}
