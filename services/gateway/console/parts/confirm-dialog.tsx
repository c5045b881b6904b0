import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

export interface ConfirmDialogProps {
  readonly title: string;
  readonly confirm: string;
  /** Undefined if the dialog cannot be cancelled. */
  readonly cancel?: string;
  readonly isBusy?: boolean;
  /** True if confirming takes something away. */
  readonly isDanger?: boolean;
  readonly children: ComponentChildren;
  readonly onConfirm: () => void;
  readonly onCancel: () => void;
}

/** The second step of an act: it says what will happen, and waits for a person. */
export function ConfirmDialog(props: ConfirmDialogProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      // the reader goes on where the dialog was opened
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const { title, confirm, cancel, isBusy = false, isDanger = false, children, onConfirm, onCancel } = props;
  return (
    <dialog ref={dialog} aria-labelledby="dialog-title" onClose={onCancel}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onConfirm();
        }}
      >
        <h2 id="dialog-title">{title}</h2>
        {children}
        <div class="actions">
          {cancel === undefined ? null : (
            <button type="button" onClick={onCancel}>
              {cancel}
            </button>
          )}
          <button type="submit" class={isDanger ? 'danger' : 'main'} disabled={isBusy}>
            {confirm}
          </button>
        </div>
      </form>
    </dialog>
  );
}
