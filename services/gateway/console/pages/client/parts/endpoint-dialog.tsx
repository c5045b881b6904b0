import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Endpoint } from '../../../api/webhooks.ts';
import { go } from '../../../state/address.ts';
import { webhooksWords } from '../webhooks-words.ts';
import { ActDialog } from './act-dialog.tsx';
import type { EndpointAnswer } from './endpoint-form.tsx';
import { ResendDialog } from './resend-dialog.tsx';
import { useAct } from '../../../state/use-act.ts';
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx';
import { SelectField } from '../../../parts/select-field.tsx';

const words = webhooksWords.acts;
/** The status of a receiver that asks for no more events. */
const GONE = 410;

export type EndpointAct = 'disable' | 'rotate' | 'test' | 'delete' | 'resendFailed';

export interface EndpointDialogProps {
  readonly act: EndpointAct;
  readonly endpoint: Endpoint;
  /** Of the endpoint below `/console/api`. */
  readonly path: string;
  readonly onSecret: (secret: string) => void;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

/** The second step of an act on an endpoint. */
export function EndpointDialog(props: EndpointDialogProps): VNode {
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
      <p class="fault" role="alert">
        {fault?.message ?? ''}
      </p>
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
