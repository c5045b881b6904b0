import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Endpoint } from '../../../api/webhooks.ts';
import { useAct } from '../../../state/use-act.ts';
import { webhooksWords } from '../webhooks-words.ts';
import { EndpointDialog } from './endpoint-dialog.tsx';
import type { EndpointAct } from './endpoint-dialog.tsx';
import { DEFAULT_ENDPOINT } from './endpoint-table.tsx';

const words = webhooksWords.acts;

export interface EndpointActsProps {
  readonly endpoint: Endpoint;
  readonly onEdit: () => void;
  readonly onSecret: (secret: string) => void;
  readonly onChanged: () => void;
}

/** Shows the acts on an endpoint. The endpoint of request URLs has only a secret and deliveries. */
export function EndpointActs({ endpoint, onEdit, onSecret, onChanged }: EndpointActsProps): VNode {
  const [open, setOpen] = useState<EndpointAct | undefined>(undefined);
  const { act, isBusy, fault } = useAct<unknown>(onChanged);
  const path = `/v1/webhook_endpoints/${encodeURIComponent(endpoint.id)}`;
  const isDisabled = endpoint.disabledAt !== undefined;
  const opener = (what: EndpointAct): VNode => (
    <button type="button" class={what === 'delete' ? 'danger' : undefined} onClick={() => setOpen(what)}>
      {words[what]}
    </button>
  );
  const enable = (): void => act(path, { status: 'enabled' });
  return (
    <div>
      <div class="actions">
        {endpoint.id === DEFAULT_ENDPOINT ? null : (
          <>
            <button type="button" onClick={onEdit}>
              {words.edit}
            </button>{' '}
            {opener('test')}
            {isDisabled ? (
              <button type="button" disabled={isBusy} onClick={enable}>
                {words.enable}
              </button>
            ) : (
              opener('disable')
            )}
          </>
        )}
        {opener('rotate')} {isDisabled ? null : opener('resendFailed')}
        {endpoint.id === DEFAULT_ENDPOINT ? null : opener('delete')}
      </div>
      {isDisabled ? <p class="quiet small">{words.resendDisabled}</p> : null}
      <p class="fault" role="alert">
        {fault?.message ?? ''}
      </p>
      {open === undefined ? null : (
        <EndpointDialog
          act={open}
          endpoint={endpoint}
          path={path}
          onSecret={onSecret}
          onChanged={onChanged}
          onClose={() => setOpen(undefined)}
        />
      )}
    </div>
  );
}
