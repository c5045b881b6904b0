import { useState } from 'preact/hooks';
import { useAct } from '../../../state/use-act.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { ConfirmDialog } from '../../../parts/confirm-dialog.ts';
import { SelectField } from '../../../parts/select-field.ts';
import { webhooksWords } from '../webhooks-words.ts';

const words = webhooksWords.acts;
/** It asks for no more events. */
const GONE = 410;

export interface TestDialogProps {
  readonly eventTypes: readonly string[];
  readonly path: string;
  readonly onClose: () => void;
}

/** Sends a sample event, and stays open to say what the receiver answered. */
export function TestDialog({ eventTypes, path, onClose }: TestDialogProps): VNode {
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
