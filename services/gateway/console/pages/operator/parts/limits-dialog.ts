import { useState } from 'preact/hooks';
import type { Token } from '../../../api/tokens.ts';
import { announce } from '../../../state/announce.ts';
import { useAct } from '../../../state/use-act.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { ConfirmDialog } from '../../../parts/confirm-dialog.ts';
import { operatorWords } from '../operator-words.ts';
import { LimitFields } from './limit-fields.ts';
import { ReasonField } from './reason-field.ts';
import type { TokenDialogProps } from './revoke-dialog.ts';
import { readLimits, toLimitTexts } from './token-limits.ts';
import { labelToken } from '../../../parts/token-label.ts';

const words = operatorWords.tokens;

/** Replaces the limits of a token. */
export function LimitsDialog({ account, token, onClose, onChanged }: TokenDialogProps & { token: Token }): VNode {
  const [texts, setTexts] = useState(() => toLimitTexts(token));
  const [reason, setReason] = useState('');
  const { act, isBusy, fault } = useAct(() => {
    announce(words.didChange(labelToken(token)));
    onChanged();
    onClose();
  });
  const { values, faults } = readLimits(texts);
  return html`<${ConfirmDialog}
    title=${words.changeTitle(labelToken(token))}
    confirm=${words.save}
    cancel=${operatorWords.dialog.cancel}
    isBusy=${isBusy || Object.keys(faults).length > 0}
    onCancel=${onClose}
    onConfirm=${() => {
      act(`/accounts/${encodeURIComponent(account.id)}/tokens/${encodeURIComponent(token.id)}/limits`, {
        ...values,
        reason: reason.trim(),
      });
    }}
  >
    <p>${words.changeText}</p>
    <${LimitFields} texts=${texts} faults=${faults} currency=${account.balance.currency} onChange=${setTexts} />
    <${ReasonField} value=${reason} onInput=${setReason} fault=${fault?.message} />
  <//>`;
}
