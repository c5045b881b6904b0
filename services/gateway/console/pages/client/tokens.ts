import { useState } from 'preact/hooks';
import type { MadeToken, Token, TokenList } from '../../api/tokens.ts';
import { useMe } from '../../state/door.ts';
import { useAct } from '../../state/use-act.ts';
import { useView } from '../../state/use-view.ts';
import { html } from '../../html.ts';
import type { VNode } from '../../html.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.ts';
import { CodeBlock } from '../../parts/code-block.ts';
import { Loaded } from '../../parts/loaded.ts';
import { Refusal } from '../../parts/refusal.ts';
import { TokenForm } from './parts/token-form.ts';
import { TokenTable } from './parts/token-table.ts';
import { tokensWords as words } from '../../words.ts';

export function page(): VNode {
  const { tokens: right } = useMe();
  const view = useView<TokenList>(right === 'none' ? undefined : '/tokens');
  return html`<h1>${words.title}</h1>
    ${
      right === 'none'
        ? html`<p>${words.noRight}</p>`
        : html`<${Loaded} view=${view}>
            ${(list: TokenList) => html`<${TokensView} list=${list} refresh=${view.refresh} />`}
          <//>`
    }`;
}

export function TokensView({ list, refresh }: { list: TokenList; refresh: () => void }): VNode {
  const { tokens, canChange, models, currency } = list;
  const [made, setMade] = useState<MadeToken | undefined>(undefined);
  const [revoking, setRevoking] = useState<Token | undefined>(undefined);
  return html`
    ${
      made === undefined
        ? null
        : html`<${KeyOnce}
            made=${made}
            onKept=${() => {
              setMade(undefined);
            }}
          />`
    }
    <${TokenTable} tokens=${tokens} onRevoke=${canChange ? setRevoking : undefined} />
    ${
      canChange
        ? html`<${TokenForm}
            key=${made?.token.id ?? 'form'}
            models=${models}
            currency=${currency}
            onMade=${(token: MadeToken) => {
              setMade(token);
              refresh();
            }}
          />`
        : html`<p class="quiet">${words.readOnly}</p>`
    }
    ${
      revoking === undefined
        ? null
        : html`<${RevokeDialog}
            token=${revoking}
            onEnd=${() => {
              setRevoking(undefined);
              refresh();
            }}
          />`
    }
  `;
}

/** The key is in this page alone, and leaves it with the page. */
function KeyOnce({ made, onKept }: { made: MadeToken; onKept: () => void }): VNode {
  return html`<section class="card key-once" role="status">
    <h2>${words.made.title}</h2>
    <p>${words.made.text}</p>
    <${CodeBlock} text=${made.key} what=${words.made.key} />
    <div class="actions"><button type="button" onClick=${onKept}>${words.made.done}</button></div>
  </section>`;
}

function RevokeDialog({ token, onEnd }: { token: Token; onEnd: () => void }): VNode {
  const { isBusy, fault, act } = useAct<Token>(onEnd);
  return html`<${ConfirmDialog}
    title=${words.revoke.title(token.name === '' ? token.id : token.name)}
    confirm=${words.revoke.confirm}
    cancel=${words.revoke.cancel}
    isBusy=${isBusy}
    isDanger
    onConfirm=${() => {
      act(`/tokens/${encodeURIComponent(token.id)}`, {}, 'DELETE');
    }}
    onCancel=${onEnd}
  >
    <p>${words.revoke.text}</p>
    ${token.isOwn ? html`<p><strong>${words.revoke.own}</strong></p>` : null}
    ${fault === undefined ? null : html`<${Refusal} error=${fault} />`}
  <//>`;
}
