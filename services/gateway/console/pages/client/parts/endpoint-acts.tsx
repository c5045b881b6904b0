import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Endpoint } from '../../../api/webhooks.ts';
import { useAct } from '../../../state/use-act.ts';
import { webhooksWords } from '../webhooks-words.ts';
import { DEFAULT_ENDPOINT } from './endpoint-table.tsx';
import { go } from '../../../state/address.ts';
import { ActDialog } from './act-dialog.tsx';
import type { EndpointAnswer } from './endpoint-form.tsx';
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx';
import { SelectField } from '../../../parts/select-field.tsx';
import { serverNow } from '../../../state/api.ts';
import { readTime } from '../../../parts/contract-values.ts';
import { TextField } from '../../../parts/text-field.tsx';
import { FaultLine } from '../../../parts/loaded.tsx';

const words = webhooksWords.acts;
/** The status of a receiver that asks for no more events. */
const GONE = 410;
const DAY_MS = 24 * 60 * 60 * 1000;
const MINUTE_MS = 60 * 1000;
const FIELD_CHARACTERS = 16;

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
      <FaultLine text={fault?.message} />
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

type EndpointAct = 'disable' | 'rotate' | 'test' | 'delete' | 'resendFailed';

interface EndpointDialogProps {
  readonly act: EndpointAct;
  readonly endpoint: Endpoint;
  /** Of the endpoint below `/console/api`. */
  readonly path: string;
  readonly onSecret: (secret: string) => void;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

/** The second step of an act on an endpoint. */
function EndpointDialog(props: EndpointDialogProps): VNode {
  const { act, endpoint, path, onChanged, onClose } = props;
  if (act === 'rotate') return <RotateDialog {...props} />;
  if (act === 'test') return <TestDialog eventTypes={endpoint.eventTypes} path={path} onClose={onClose} />;
  if (act === 'resendFailed')
    return <ResendDialog endpoint={endpoint} path={path} onChanged={onChanged} onClose={onClose} />;
  const isDelete = act === 'delete';
  return (
    <ActDialog
      title={isDelete ? words.deleteTitle : words.disableTitle}
      confirm={words[act]}
      cancel={words.back}
      isDanger
      path={path}
      method={isDelete ? 'DELETE' : 'POST'}
      body={isDelete ? undefined : { status: 'disabled' }}
      onDone={() => {
        onClose();
        if (isDelete) go('/console/webhooks');
        else onChanged();
      }}
      onClose={onClose}
    >
      <p>{isDelete ? words.deleteText : words.disableText}</p>
    </ActDialog>
  );
}

function RotateDialog({ path, onSecret, onChanged, onClose }: EndpointDialogProps): VNode {
  const [keepsOld, setKeepsOld] = useState(true);
  return (
    <ActDialog<EndpointAnswer>
      title={words.rotateTitle}
      confirm={words.rotate}
      cancel={words.back}
      path={`${path}/rotate_secret`}
      body={{ keep_old_secret_active_for_24_hours: keepsOld }}
      onDone={(answer) => {
        onSecret(answer.signing_secret ?? '');
        onClose();
        onChanged();
      }}
      onClose={onClose}
    >
      <p>{words.rotateText}</p>
      <label>
        <input type="checkbox" checked={keepsOld} onChange={() => setKeepsOld(!keepsOld)} />
        {words.keepOld}
      </label>
    </ActDialog>
  );
}

interface TestDialogProps {
  readonly eventTypes: readonly string[];
  readonly path: string;
  readonly onClose: () => void;
}

/** Sends a sample event, and stays open to show the answer of the receiver. */
function TestDialog({ eventTypes, path, onClose }: TestDialogProps): VNode {
  const [type, setType] = useState(eventTypes[0] ?? '');
  const { act, isBusy, fault, answer } = useAct<{ readonly status_code: number }>();
  return (
    <ConfirmDialog
      title={words.testTitle}
      confirm={words.test}
      cancel={words.back}
      isBusy={isBusy}
      onConfirm={() => act(`${path}/test`, { event_type: type })}
      onCancel={onClose}
    >
      <p>{words.testText}</p>
      <SelectField
        label={words.eventType}
        value={type}
        options={eventTypes.map((value) => ({ value, name: value }))}
        onChange={setType}
      />
      <p role="status">
        {answer === undefined || fault !== undefined || isBusy ? null : <Told status={answer.status_code} />}
      </p>
      <FaultLine text={fault?.message} />
    </ConfirmDialog>
  );
}

/** A status by a shape and in words. */
function Told({ status }: { status: number }): VNode {
  return status >= 200 && status < 300 ? (
    <span class="good">
      <span aria-hidden="true">●</span> {words.tested(status)}
    </span>
  ) : (
    <span class="bad">
      <span aria-hidden="true">✕</span> {status === GONE ? words.testGone : words.testFailed(status)}
    </span>
  );
}

interface Resent {
  readonly resent: number;
  readonly has_more: boolean;
}

interface ResendDialogProps {
  readonly endpoint: Endpoint;
  readonly path: string;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

/**
 * Makes failed deliveries due again, those since the endpoint fails if it does. It stays open to say how many there
 * were.
 */
function ResendDialog({ endpoint, path, onChanged, onClose }: ResendDialogProps): VNode {
  const [since, setSince] = useState(() => fieldTime(readTime(endpoint.failingSince) ?? serverNow() - DAY_MS));
  const { act, isBusy, fault, answer } = useAct<Resent>(onChanged);
  const told = answer === undefined ? '' : `${words.resent(answer.resent)} ${answer.has_more ? words.resentMore : ''}`;
  return (
    <ConfirmDialog
      title={words.resendTitle}
      confirm={words.resendFailed}
      cancel={words.back}
      isBusy={isBusy || since === ''}
      onConfirm={() => act(`${path}/resend_failed`, { since: Math.floor(new Date(since).getTime() / 1000) })}
      onCancel={onClose}
    >
      <p>{words.resendText}</p>
      <TextField
        label={words.since}
        type="datetime-local"
        value={since}
        onInput={setSince}
        hint={words.sinceHint}
        isRequired
      />
      <p role="status">{fault === undefined ? told : ''}</p>
      <FaultLine text={fault?.message} />
    </ConfirmDialog>
  );
}

/** A time as the field writes it, in the zone of the viewer. */
function fieldTime(at: number): string {
  const zoneMs = new Date(at).getTimezoneOffset() * MINUTE_MS;
  return new Date(at - zoneMs).toISOString().slice(0, FIELD_CHARACTERS);
}
