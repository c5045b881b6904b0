import { render } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Me, OperatorMe } from './api/session.ts';
import { ApiError, api, endsSession, onSignedOut } from './state/api.ts';
import { followLinks } from './state/address.ts';
import { VisitorContext } from './state/door.ts';
import type { Visitor } from './state/door.ts';
import { setServerClock } from './state/server-clock.ts';
import { Frame } from './frame.ts';
import { html } from './html.ts';
import type { VNode } from './html.ts';
import { SignIn } from './sign-in.ts';
import { Refusal } from './parts/refusal.ts';
import type { Door } from './routes.ts';
import { words } from './words.ts';

type Standing = Visitor | 'unknown' | { readonly notice: string } | ApiError;

const SIGNED_OUT = { notice: '' };

function Console({ door }: { door: Door }): VNode {
  const [standing, setStanding] = useState<Standing>('unknown');
  const arrive = useCallback(
    (me: Me | OperatorMe) => {
      setServerClock(me.now);
      setStanding({ door, me } as Visitor);
    },
    [door],
  );
  const ask = useCallback(() => {
    api<Me | OperatorMe>('/me').then(arrive, (error: unknown) => {
      const isOut = error instanceof ApiError && endsSession(error);
      setStanding(isOut || !(error instanceof ApiError) ? SIGNED_OUT : error);
    });
  }, [arrive]);
  useEffect(() => {
    onSignedOut(() => {
      setStanding(SIGNED_OUT);
    });
    ask();
  }, [ask]);
  if (standing === 'unknown') return html`<p class="alone">${words.loading}</p>`;
  if (standing instanceof ApiError)
    return html`<main class="alone"><${Refusal} error=${standing} retry=${ask} /></main>`;
  if ('notice' in standing) return html`<${SignIn} door=${door} notice=${standing.notice} onSignedIn=${arrive} />`;
  return html`<${VisitorContext.Provider} value=${standing}>
    <${Frame}
      visitor=${standing}
      onSignedOut=${(notice: string) => {
        setStanding({ notice });
      }}
    />
  <//>`;
}

followLinks();
const root = document.getElementById('console');
const door = document.documentElement.dataset['door'] === 'operator' ? 'operator' : 'client';
if (root !== null) render(html`<${Console} door=${door} />`, root);
