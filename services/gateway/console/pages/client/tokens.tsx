import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { MadeToken, RevokedToken, Token, TokenList } from '../../api/tokens.ts';
import { useMe } from '../../state/door.ts';
import { serverNow } from '../../state/api.ts';
import { useAct } from '../../state/use-act.ts';
import { useView } from '../../state/use-view.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { CodeBlock } from '../../parts/copy-button.tsx';
import { MadeChoice } from '../../parts/made-choice.tsx';
import { countValidMade, labelToken } from '../../parts/token-tree.tsx';
import { Loaded, Refusal } from '../../parts/loaded.tsx';
import { TokenForm } from './parts/token-form.tsx';
import { TokenTable } from './parts/token-table.tsx';
import { tokensWords as words } from './tokens-words.ts';
import { words as commonWords } from '../../words.ts';

export function page(): VNode {
  const { tokens: right } = useMe();
  const view = useView<TokenList>(right === 'none' ? undefined : '/tokens');
  return (
    <>
      <PageTitle title={words.title} />{' '}
      {right === 'none' ? (
        <p>{words.noRight}</p>
      ) : (
        <Loaded view={view}>{(list) => <TokensView list={list} refresh={view.refresh} />}</Loaded>
      )}
    </>
  );
}

export function TokensView({ list, refresh }: { list: TokenList; refresh: () => void }): VNode {
  const { tokens, canChange, models, currency } = list;
  const [made, setMade] = useState<MadeToken | undefined>(undefined);
  const [revoking, setRevoking] = useState<Token | undefined>(undefined);
  const [notice, setNotice] = useState('');
  return (
    <>
      {made === undefined ? null : <KeyOnce made={made} onKept={() => setMade(undefined)} />}
      <p role="status">{notice}</p>
      <TokenTable tokens={tokens} onRevoke={canChange ? setRevoking : undefined} />
      {canChange ? (
        <TokenForm
          key={made?.token.id ?? 'form'}
          models={models}
          currency={currency}
          onMade={(token) => {
            setMade(token);
            refresh();
          }}
        />
      ) : (
        <p class="quiet">{words.readOnly}</p>
      )}
      {revoking === undefined ? null : (
        <RevokeDialog
          token={revoking}
          madeCount={countValidMade(tokens, revoking.id, isValid)}
          onRevoked={({ token, madeRevoked }) =>
            setNotice(commonWords.madeTokens.revoked(labelToken(token), madeRevoked))
          }
          onEnd={() => {
            setRevoking(undefined);
            refresh();
          }}
        />
      )}
    </>
  );
}

/** The key is in this page alone, and leaves it with the page. */
function KeyOnce({ made, onKept }: { made: MadeToken; onKept: () => void }): VNode {
  return (
    <section class="card key-once" role="status">
      <h2>{words.made.title}</h2>
      <p>{words.made.text}</p>
      <CodeBlock text={made.key} what={words.made.key} />
      <div class="actions">
        <button type="button" onClick={onKept}>
          {words.made.done}
        </button>
      </div>
    </section>
  );
}

interface RevokeDialogProps {
  readonly token: Token;
  /** The number of its active child tokens. */
  readonly madeCount: number;
  readonly onRevoked: (revoked: RevokedToken) => void;
  readonly onEnd: () => void;
}

function RevokeDialog({ token, madeCount, onRevoked, onEnd }: RevokeDialogProps): VNode {
  const [isWithMade, setWithMade] = useState(false);
  const { isBusy, fault, act } = useAct<RevokedToken>((revoked) => {
    onRevoked(revoked);
    onEnd();
  });
  return (
    <ConfirmDialog
      title={words.revoke.title(labelToken(token))}
      confirm={words.revoke.confirm}
      cancel={words.revoke.cancel}
      isBusy={isBusy}
      isDanger
      onConfirm={() =>
        act(`/tokens/${encodeURIComponent(token.id)}${isWithMade ? '?with_made=true' : ''}`, {}, 'DELETE')
      }
      onCancel={onEnd}
    >
      <p>{words.revoke.text}</p>
      <MadeChoice count={madeCount} isWithMade={isWithMade} onChange={setWithMade} />
      {token.isOwn ? (
        <p>
          <strong>{words.revoke.own}</strong>
        </p>
      ) : null}
      {fault === undefined ? null : <Refusal error={fault} />}
    </ConfirmDialog>
  );
}

/** Reports whether a token can be used now. */
function isValid({ revokedAt, expiresAt = Infinity }: Token): boolean {
  return revokedAt === undefined && expiresAt > serverNow();
}
