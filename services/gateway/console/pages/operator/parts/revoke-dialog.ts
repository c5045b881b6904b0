import type { AccountRow } from '../../../api/operator-accounts.ts';
import type { Token } from '../../../api/tokens.ts';
import { announce } from '../../../state/announce.ts';
import { useAct } from '../../../state/use-act.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { ConfirmDialog } from '../../../parts/confirm-dialog.ts';
import { operatorWords } from '../../../words.ts';
import { labelOf } from './token-label.ts';

const words = operatorWords.tokens;

export interface TokenDialogProps {
  readonly account: AccountRow;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

/** The second step of a revocation. */
export function RevokeDialog({ account, token, onClose, onChanged }: TokenDialogProps & { token: Token }): VNode {
  const { act, isBusy, fault } = useAct(() => {
    announce(words.didRevoke(labelOf(token)));
    onChanged();
    onClose();
  });
  return html`<${ConfirmDialog}
    title=${words.revokeTitle(labelOf(token))}
    confirm=${words.revoke}
    cancel=${operatorWords.dialog.cancel}
    isBusy=${isBusy}
    isDanger=${true}
    onCancel=${onClose}
    onConfirm=${() => {
      act(`/accounts/${encodeURIComponent(account.id)}/tokens/${encodeURIComponent(token.id)}`, {}, 'DELETE');
    }}
  >
    <p>${words.revokeText}</p>
    <p class="id">${token.id}</p>
    <p class="fault" role="alert">${fault?.message ?? ''}</p>
  <//>`;
}
