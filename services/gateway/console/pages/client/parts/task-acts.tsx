import type { VNode } from 'preact';
import { useState, useEffect } from 'preact/hooks';
import type { TaskView } from '../../../api/task.ts';
import { go } from '../../../state/address.ts';
import { taskWords } from '../task-words.ts';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { ActDialog } from './act-dialog.tsx';
import { ApiError, api, newRequestKey } from '../../../state/api.ts';
import { useMe } from '../../../state/door.ts';
import { readKept, writeKept } from '../../../state/kept-values.ts';
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx';
import { moneyText } from '../../../parts/number-text.tsx';
import { FaultLine } from '../../../parts/loaded.tsx';
import type { Estimate } from './estimate.ts';

const words = taskWords.acts;
/** The one model and resolution of a regeneration. */
const RENDERED = { model: 'Alpha-H3', resolution: '2K' };

type Open = 'cancel' | 'delete' | 'regenerate';

/** Shows the acts on a task. An act that takes something away asks once more. */
export function TaskActs({ view, onChanged }: { view: TaskView; onChanged: () => void }): VNode {
  const [open, setOpen] = useState<Open | undefined>(undefined);
  const { task, canCancel, canRegenerate } = view;
  const opener = (what: Open) => (): void => setOpen(what);
  const { video } = view;
  const link = readVideoLink(view.raw);
  return (
    <div class="actions">
      {video === undefined ? null : (
        <a class="button main" href={video.download} download={`${task.id}.mp4`}>
          {taskWords.video.download}
        </a>
      )}
      {task.kind === 'generation' ? (
        <a
          class={task.state === 'failed' ? 'button main' : 'button'}
          href={`/console/try?from=${encodeURIComponent(task.id)}`}
        >
          {words.again}
        </a>
      ) : null}
      {canRegenerate ? (
        <button type="button" onClick={opener('regenerate')}>
          {words.regenerate}
        </button>
      ) : null}
      {link === undefined ? null : <CopyButton text={link} what={words.videoLink} label={words.copyLink} />}
      {canCancel ? (
        <button type="button" class="danger" onClick={opener('cancel')}>
          {words.cancel}
        </button>
      ) : null}
      {task.endedAt === undefined ? null : (
        <button type="button" class="danger" onClick={opener('delete')}>
          {words.delete}
        </button>
      )}
      <TaskDialog open={open} taskId={task.id} onChanged={onChanged} onClose={() => setOpen(undefined)} />
    </div>
  );
}

/** The link of the answer that a program reads. It works without a token, and ends with the video. */
function readVideoLink(raw: unknown): string | undefined {
  const url = typeof raw === 'object' && raw !== null && 'video_url' in raw ? raw.video_url : undefined;
  return typeof url === 'string' ? url : undefined;
}

interface TaskDialogProps {
  readonly open: Open | undefined;
  readonly taskId: string;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

function TaskDialog({ open, taskId, onChanged, onClose }: TaskDialogProps): VNode | null {
  const path = `/v1/videos/${encodeURIComponent(taskId)}`;
  if (open === 'regenerate') return <RegenerateDialog taskId={taskId} onClose={onClose} />;
  if (open === 'cancel')
    return (
      <ActDialog
        title={words.cancelTitle}
        confirm={words.cancel}
        cancel={words.keep}
        isDanger
        path={`${path}/cancel`}
        onDone={() => {
          onClose();
          onChanged();
        }}
        onClose={onClose}
      >
        <p>{words.cancelText}</p>
      </ActDialog>
    );
  if (open === 'delete')
    return (
      <ActDialog
        title={words.deleteTitle}
        confirm={words.delete}
        cancel={words.back}
        isDanger
        path={path}
        method="DELETE"
        onDone={() => go('/console/tasks')}
        onClose={onClose}
      >
        <p>{words.deleteText}</p>
      </ActDialog>
    );
  return null;
}

/** Shows the price and asks for confirmation, then creates the new task and opens it. */
function RegenerateDialog({ taskId, onClose }: { taskId: string; onClose: () => void }): VNode {
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
      <FaultLine text={fault} />
    </ConfirmDialog>
  );
}

function readErrorMessage(error: unknown): string {
  return error instanceof ApiError ? error.message : String(error);
}
