import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { go } from '../../../state/address.ts';
import { ApiError, api, newRequestKey } from '../../../state/api.ts';
import { useMe } from '../../../state/door.ts';
import { readKept, writeKept } from '../../../state/kept-values.ts';
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx';
import { moneyText } from '../../../parts/number-text.tsx';
import { taskWords } from '../task-words.ts';
import type { Estimate } from './estimate.ts';

const words = taskWords.acts;
/** The one model and resolution of a regeneration. */
const RENDERED = { model: 'Alpha-H3', resolution: '2K' };

/** Shows the price and asks for confirmation, then creates the new task and opens it. */
export function RegenerateDialog({ taskId, onClose }: { taskId: string; onClose: () => void }): VNode {
  const [price, setPrice] = useState(words.estimating);
  const [fault, setFault] = useState('');
  const [isBusy, setBusy] = useState(false);
  const { accountId } = useMe();
  useEffect(() => {
    const asked = new AbortController();
    api<Estimate>('/v1/videos/estimate', {
      method: 'POST',
      body: { ...RENDERED, source_task_id: taskId },
      signal: asked.signal,
    }).then(
      ({ amount, currency }) => setPrice(words.estimated(moneyText(amount, currency))),
      (error: unknown) => {
        if (!asked.signal.aborted) setPrice(readErrorMessage(error));
      },
    );
    return () => asked.abort();
  }, [taskId]);
  const create = async (): Promise<void> => {
    setBusy(true);
    // a retry never creates a second task, even after the dialog was closed or the page reloaded
    const keptAs = `regenerate.${taskId}`;
    const kept = readKept(accountId, keptAs);
    const key = typeof kept === 'string' ? kept : newRequestKey();
    writeKept(accountId, keptAs, key);
    try {
      const made = await api<{ readonly id: string }>(`/v1/videos/${encodeURIComponent(taskId)}/remix`, {
        method: 'POST',
        body: RENDERED,
        headers: { 'idempotency-key': key },
      });
      writeKept(accountId, keptAs, undefined);
      go(`/console/tasks/${made.id}`);
    } catch (error) {
      setFault(readErrorMessage(error));
      setBusy(false);
    }
  };
  return (
    <ConfirmDialog
      title={words.regenerateTitle}
      confirm={words.regenerate}
      cancel={words.back}
      isBusy={isBusy}
      onConfirm={() => void create()}
      onCancel={onClose}
    >
      <p>{words.regenerateText}</p>
      <p role="status">
        <strong>{price}</strong>
      </p>
      <p class="fault" role="alert">
        {fault}
      </p>
    </ConfirmDialog>
  );
}

function readErrorMessage(error: unknown): string {
  return error instanceof ApiError ? error.message : String(error);
}
