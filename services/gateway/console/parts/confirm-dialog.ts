import { useEffect, useRef } from 'preact/hooks';
import { html } from '../html.ts';
import type { ComponentChildren, VNode } from '../html.ts';

export interface ConfirmDialogProps {
  readonly title: string;
  readonly confirm: string;
  readonly cancel: string;
  readonly isBusy?: boolean;
  /** Whether confirming takes something away. */
  readonly isDanger?: boolean;
  readonly children: ComponentChildren;
  readonly onConfirm: () => void;
  readonly onCancel: () => void;
}

/** The second step of an act: it says what will happen, and waits for a person. */
export function ConfirmDialog(props: ConfirmDialogProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const { title, confirm, cancel, isBusy = false, isDanger = false, children, onConfirm, onCancel } = props;
  return html`<dialog ref=${dialog} aria-labelledby="dialog-title" onClose=${onCancel}>
    <form
      onSubmit=${(event: SubmitEvent) => {
        event.preventDefault();
        onConfirm();
      }}
    >
      <h2 id="dialog-title">${title}</h2>
      ${children}
      <div class="actions">
        <button type="button" onClick=${onCancel}>${cancel}</button>
        <button type="submit" class=${isDanger ? 'danger' : 'main'} disabled=${isBusy}>${confirm}</button>
      </div>
    </form>
  </dialog>`;
}
