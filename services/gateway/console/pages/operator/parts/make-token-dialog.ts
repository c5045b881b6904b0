import { useState } from 'preact/hooks';
import type { MadeToken } from '../../../api/tokens.ts';
import { useAct } from '../../../state/use-act.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { ConfirmDialog } from '../../../parts/confirm-dialog.ts';
import { CopyButton } from '../../../parts/copy-button.ts';
import { operatorWords } from '../operator-words.ts';
import { NEW_TOKEN, readNewToken } from './new-token.ts';
import { NewTokenFields } from './new-token-fields.ts';
import type { TokenDialogProps } from './revoke-dialog.ts';

const words = operatorWords.tokens;

/** Makes a token, and then shows its key this once. */
export function MakeTokenDialog({ account, onClose, onChanged }: TokenDialogProps): VNode {
  const [form, setForm] = useState(NEW_TOKEN);
  const { act, isBusy, fault, answer } = useAct<MadeToken>(onChanged);
  if (answer !== undefined) return html`<${MadeKeyDialog} made=${answer} onClose=${onClose} />`;
  const { token, faults } = readNewToken(form);
  return html`<${ConfirmDialog}
    title=${words.make}
    confirm=${words.makeButton}
    cancel=${operatorWords.dialog.cancel}
    isBusy=${isBusy || token === undefined}
    onCancel=${onClose}
    onConfirm=${() => {
      if (token !== undefined) act(`/accounts/${encodeURIComponent(account.id)}/tokens`, token);
    }}
  >
    <${NewTokenFields} form=${form} faults=${faults} currency=${account.balance.currency} onChange=${setForm} />
    <p class="fault" role="alert">${fault?.message ?? ''}</p>
  <//>`;
}

/** The key of a new token. It is kept nowhere, so this is the one time that it can be read. */
function MadeKeyDialog({ made: { token, key }, onClose }: { made: MadeToken; onClose: () => void }): VNode {
  return html`<${ConfirmDialog} title=${words.made} confirm=${words.close} onCancel=${onClose} onConfirm=${onClose}>
    <p>${token.name}</p>
    <p class="note">${words.once}</p>
    <p><code class="id key">${key}</code> <${CopyButton} text=${key} what=${words.key} /></p>
  <//>`;
}
