import type { ComponentChildren, VNode } from 'preact';

export interface EmptyStateProps {
  /** Says that nothing is here. */
  readonly title: string;
  /** Says what will be here, and how it comes to be. */
  readonly text?: ComponentChildren;
  /** The button or the link that makes the first one. */
  readonly action?: ComponentChildren;
}

/** Stands in the place of a list without rows, and teaches what will be here. */
export function EmptyState({ title, text, action }: EmptyStateProps): VNode {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {text === undefined ? null : <p>{text}</p>}
      {action === undefined ? null : <div class="actions">{action}</div>}
    </div>
  );
}
