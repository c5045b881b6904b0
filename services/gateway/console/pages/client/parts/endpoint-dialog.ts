import { useState } from 'preact/hooks';
import type { Endpoint } from '../../../api/webhooks.ts';
import { go } from '../../../state/address.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { webhooksWords } from '../webhooks-words.ts';
import { ActDialog } from './act-dialog.ts';
import type { EndpointAnswer } from './endpoint-form.ts';
import { ResendDialog } from './resend-dialog.ts';
import { useAct } from '../../../state/use-act.ts';
import { ConfirmDialog } from '../../../parts/confirm-dialog.ts';
import { SelectField } from '../../../parts/select-field.ts';

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
  if (act === 'rotate') return html`<${RotateDialog} ...${props} />`;
  if (act === 'test') return html`<${TestDialog} eventTypes=${endpoint.eventTypes} path=${path} onClose=${onClose} />`;
  if (act === 'resendFailed')
    return html`<${ResendDialog} endpoint=${endpoint} path=${path} onChanged=${onChanged} onClose=${onClose} />`;
  const isDelete = act === 'delete';
  return html`<${ActDialog}
    title=${isDelete ? words.deleteTitle : words.disableTitle}
    confirm=${words[act]}
    cancel=${words.back}
    isDanger
    path=${path}
    method=${isDelete ? 'DELETE' : 'POST'}
    body=${isDelete ? undefined : { status: 'disabled' }}
    onDone=${() => {
      onClose();
      if (isDelete) go('/console/webhooks');
      else onChanged();
    }}
    onClose=${onClose}
  >
    <p>${isDelete ? words.deleteText : words.disableText}</p>
  <//>`;
}

function RotateDialog({ path, onSecret, onChanged, onClose }: EndpointDialogProps): VNode {
  const [keepsOld, setKeepsOld] = useState(true);
  return html`<${ActDialog}
    title=${words.rotateTitle}
    confirm=${words.rotate}
    cancel=${words.back}
    path=${`${path}/rotate_secret`}
    body=${{ keep_old_secret_active_for_24_hours: keepsOld }}
    onDone=${(answer: EndpointAnswer) => {
      onSecret(answer.signing_secret ?? '');
      onClose();
      onChanged();
    }}
    onClose=${onClose}
  >
    <p>${words.rotateText}</p>
    <label>
      <input
        type="checkbox"
        checked=${keepsOld}
        onChange=${() => {
          setKeepsOld(!keepsOld);
        }}
      />
      ${words.keepOld}
    </label>
  <//>`;
}

interface TestDialogProps {
  readonly eventTypes: readonly string[];
  readonly path: string;
  readonly onClose: () => void;
}

/** Sends a sample event, and stays open to say what the receiver answered. */
function TestDialog({ eventTypes, path, onClose }: TestDialogProps): VNode {
  const [type, setType] = useState(eventTypes[0] ?? '');
  const { act, isBusy, fault, answer } = useAct<{ readonly status_code: number }>();
  return html`<${ConfirmDialog}
    title=${words.testTitle}
    confirm=${words.test}
    cancel=${words.back}
    isBusy=${isBusy}
    onConfirm=${() => {
      act(`${path}/test`, { event_type: type });
    }}
    onCancel=${onClose}
  >
    <p>${words.testText}</p>
    <${SelectField}
      label=${words.eventType}
      value=${type}
      options=${eventTypes.map((value) => ({ value, name: value }))}
      onChange=${setType}
    />
    <p role="status">
      ${answer === undefined || fault !== undefined || isBusy ? null : html`<${Told} status=${answer.status_code} />`}
    </p>
    <p class="fault" role="alert">${fault?.message ?? ''}</p>
  <//>`;
}

/** A status by a shape and in words. */
function Told({ status }: { status: number }): VNode {
  return status >= 200 && status < 300
    ? html`<span class="good"><span aria-hidden="true">●</span> ${words.tested(status)}</span>`
    : html`<span class="bad"
        ><span aria-hidden="true">✕</span> ${status === GONE ? words.testGone : words.testFailed(status)}</span
      >`;
}
