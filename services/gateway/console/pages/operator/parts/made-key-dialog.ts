import type { MadeToken } from '../../../api/tokens.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { CopyButton } from '../../../parts/copy-button.ts';
import { ConfirmDialog } from '../../../parts/confirm-dialog.ts';
import { operatorWords } from '../words.ts';

const words = operatorWords.tokens;

/** The key of a new token. It is kept nowhere, so this is the one time that it can be read. */
export function MadeKeyDialog({ made: { token, key }, onClose }: { made: MadeToken; onClose: () => void }): VNode {
  return html`<${ConfirmDialog} title=${words.made} confirm=${words.close} onCancel=${onClose} onConfirm=${onClose}>
    <p>${token.name}</p>
    <p class="note">${words.once}</p>
    <p><code class="id key">${key}</code> <${CopyButton} text=${key} what=${words.key} /></p>
  <//>`;
}
