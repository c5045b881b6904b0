import type { ComponentChildren, VNode } from 'preact';
import { useAct } from '../../../state/use-act.ts';
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx';
import { FaultLine } from '../../../parts/loaded.tsx';

export interface ActDialogProps<T> {
  readonly title: string;
  readonly confirm: string;
  readonly cancel: string;
  readonly isDanger?: boolean;
  /** The path below `/console/api` that is called on confirmation. */
  readonly path: string;
  readonly method?: 'POST' | 'DELETE';
  readonly body?: object | undefined;
  readonly children: ComponentChildren;
  readonly onDone: (answer: T) => void;
  readonly onClose: () => void;
}

/** A second step that carries out one call, and says in its place why it was refused. */
export function ActDialog<T>(props: ActDialogProps<T>): VNode {
  const { title, confirm, cancel, isDanger = false, path, method, body, children, onDone, onClose } = props;
  const { act, isBusy, fault } = useAct<T>(onDone);
  return (
    <ConfirmDialog
      title={title}
      confirm={confirm}
      cancel={cancel}
      isDanger={isDanger}
      isBusy={isBusy}
      onConfirm={() => act(path, body, method)}
      onCancel={onClose}
    >
      {children}
      <FaultLine text={fault?.message} />
    </ConfirmDialog>
  );
}
