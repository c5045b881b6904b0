import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { TaskView } from '../../../api/task.ts';
import { go } from '../../../state/address.ts';
import { taskWords } from '../task-words.ts';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { ActDialog } from './act-dialog.tsx';
import { RegenerateDialog } from './regenerate-dialog.tsx';

const words = taskWords.acts;

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
