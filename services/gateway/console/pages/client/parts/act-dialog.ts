import { useAct } from '../../../state/use-act.ts';
import { html } from '../../../html.ts';
import type { ComponentChildren, VNode } from '../../../html.ts';
import { ConfirmDialog } from '../../../parts/confirm-dialog.ts';

export interface ActDialogProps<T> {
  readonly title: string;
  readonly confirm: string;
  readonly cancel: string;
  readonly isDanger?: boolean;
  /** The path below `/console/api` that is called on confirmation. */
  readonly path: string;
  readonly method?: 'POST' | 'DELETE';
  readonly body?: object;
  readonly children: ComponentChildren;
  readonly onDone: (answer: T) => void;
  readonly onClose: () => void;
}

/** A second step that carries out one call, and says in its place why it was refused. */
export function ActDialog<T>(props: ActDialogProps<T>): VNode {
  const { title, confirm, cancel, isDanger, path, method, body, children, onDone, onClose } = props;
  const { act, isBusy, fault } = useAct<T>(onDone);
  return html`<${ConfirmDialog}
    title=${title}
    confirm=${confirm}
    cancel=${cancel}
    isDanger=${isDanger}
    isBusy=${isBusy}
    onConfirm=${() => {
      act(path, body, method);
    }}
    onCancel=${onClose}
  >
    ${children}
    <p class="fault" role="alert">${fault?.message ?? ''}</p>
  <//>`;
}
