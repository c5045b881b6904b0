import type { VNode } from 'preact';
import type { RpcAnswer } from '../../../api/calls.ts';
import { useState } from 'preact/hooks';
import { useRpc } from '../../../state/calls.ts';
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx';
import { MadeChoice } from '../../../parts/made-choice.tsx';
import { operatorWords } from '../operator-words.ts';
import { booksWords } from '../books-words.ts';
import { labelToken } from '../../../parts/token-tree.tsx';
import { FaultLine } from '../../../parts/loaded.tsx';
import type { Account, Token } from './limit-fields.tsx';

const words = booksWords.tokens;

export interface TokenDialogProps {
  readonly account: Account;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

export interface RevokeDialogProps extends TokenDialogProps {
  readonly token: Token;
  /** The number of tokens that it made and that can still be used. */
  readonly madeCount: number;
  readonly onRevoked: (revoked: RpcAnswer<'billing.AccountService/RevokeToken'>) => void;
}

/** The second step of a revocation. */
export function RevokeDialog(props: RevokeDialogProps): VNode {
  const { token, madeCount, onRevoked, onClose, onChanged } = props;
  const [isWithMade, setWithMade] = useState(false);
  const { act, isBusy, fault } = useRpc('billing.AccountService/RevokeToken', (revoked) => {
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
      onConfirm={() => act({ id: token.id, withMade: isWithMade })}
    >
      <p>{words.revokeText}</p>
      <p class="id">{token.id}</p>
      <MadeChoice count={madeCount} isWithMade={isWithMade} onChange={setWithMade} />
      <FaultLine text={fault?.message} />
    </ConfirmDialog>
  );
}
