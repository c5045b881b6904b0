import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Endpoint } from '../../../api/webhooks.ts';
import { serverNow } from '../../../state/api.ts';
import { useAct } from '../../../state/use-act.ts';
import { readTime } from '../../../parts/contract-values.ts';
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx';
import { TextField } from '../../../parts/text-field.tsx';
import { webhooksWords } from '../webhooks-words.ts';

const words = webhooksWords.acts;
const DAY_MS = 24 * 60 * 60 * 1000;
const MINUTE_MS = 60 * 1000;
const FIELD_CHARACTERS = 16;

interface Resent {
  readonly resent: number;
  readonly has_more: boolean;
}

export interface ResendDialogProps {
  readonly endpoint: Endpoint;
  readonly path: string;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

/**
 * Makes failed deliveries due again, those since the endpoint fails if it does. It stays open to say how many there
 * were.
 */
export function ResendDialog({ endpoint, path, onChanged, onClose }: ResendDialogProps): VNode {
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
      <p class="fault" role="alert">
        {fault?.message ?? ''}
      </p>
    </ConfirmDialog>
  );
}

/** A time as the field writes it, in the zone of the viewer. */
function fieldTime(at: number): string {
  const zoneMs = new Date(at).getTimezoneOffset() * MINUTE_MS;
  return new Date(at - zoneMs).toISOString().slice(0, FIELD_CHARACTERS);
}
