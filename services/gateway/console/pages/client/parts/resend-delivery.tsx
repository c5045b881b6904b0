import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Delivery } from '../../../api/webhooks.ts';
import { readDeliveryState } from '../../../parts/delivery-state.tsx';
import { useAct } from '../../../state/use-act.ts';
import { webhooksWords } from '../webhooks-words.ts';
import { ActDialog } from './act-dialog.tsx';

const words = webhooksWords.delivery;

/** Sends a delivery at once. What the receiver has accepted already asks once more. */
export function ResendDelivery({ delivery, onChanged }: { delivery: Delivery; onChanged: () => void }): VNode {
  const state = readDeliveryState(delivery.state);
  const [isAsking, setAsking] = useState(false);
  const [isDone, setDone] = useState(false);
  const done = (): void => {
    setAsking(false);
    setDone(true);
    onChanged();
  };
  const { act, isBusy, fault } = useAct<unknown>(done);
  const path = `/v1/webhook_deliveries/${encodeURIComponent(delivery.id)}/resend`;
  const press = (): void => {
    if (state === 'delivered') setAsking(true);
    else act(path);
  };
  return (
    <div>
      <p class="actions">
        <button type="button" disabled={isBusy} onClick={press}>
          {state === 'pending' ? words.sendNow : words.resend}
        </button>
        <span role="status">{isDone && !isBusy && fault === undefined ? words.resent : ''}</span>
      </p>
      <p class="fault" role="alert">
        {fault?.message ?? ''}
      </p>
      {isAsking ? (
        <ActDialog
          title={words.resendTitle}
          confirm={words.resend}
          cancel={words.resendBack}
          path={path}
          onDone={done}
          onClose={() => setAsking(false)}
        >
          <p>{words.resendText}</p>
        </ActDialog>
      ) : null}
    </div>
  );
}
