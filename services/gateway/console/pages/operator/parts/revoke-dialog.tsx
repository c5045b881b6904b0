import type { VNode } from 'preact';
import type { AccountRow } from '../../../api/operator-accounts.ts';
import { useState } from 'preact/hooks';
import type { RevokedToken, Token } from '../../../api/tokens.ts';
import { useAct } from '../../../state/use-act.ts';
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx';
import { MadeChoice } from '../../../parts/made-choice.tsx';
import { operatorWords } from '../operator-words.ts';
import { booksWords } from '../books-words.ts';
import { labelToken } from '../../../parts/token-tree.tsx';

const words = booksWords.tokens;

export interface TokenDialogProps {
  readonly account: AccountRow;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

export interface RevokeDialogProps extends TokenDialogProps {
  readonly token: Token;
  /** The number of tokens that it made and that can still be used. */
  readonly madeCount: number;
  readonly onRevoked: (revoked: RevokedToken) => void;
}

/** The second step of a revocation. */
export function RevokeDialog(props: RevokeDialogProps): VNode {
  const { account, token, madeCount, onRevoked, onClose, onChanged } = props;
  const [isWithMade, setWithMade] = useState(false);
  const { act, isBusy, fault } = useAct<RevokedToken>((revoked) => {
    onRevoked(revoked);
    onChanged();
    onClose();
  });
  return (
    <ConfirmDialog
      title={words.revokeTitle(labelToken(token))}
      confirm={words.revoke}
      cancel={operatorWords.dialog.cancel}
      isBusy={isBusy}
      isDanger
      onCancel={onClose}
      onConfirm={() => {
        const path = `/accounts/${encodeURIComponent(account.id)}/tokens/${encodeURIComponent(token.id)}`;
        act(isWithMade ? `${path}?with_made=true` : path, {}, 'DELETE');
      }}
    >
      <p>{words.revokeText}</p>
      <p class="id">{token.id}</p>
      <MadeChoice count={madeCount} isWithMade={isWithMade} onChange={setWithMade} />
      <p class="fault" role="alert">
        {fault?.message ?? ''}
      </p>
    </ConfirmDialog>
  );
}
