import { render } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Me, OperatorMe } from './api/session.ts';
import { ApiError, api, endsSession, onSignedOut } from './state/api.ts';
import { followLinks } from './state/address.ts';
import { VisitorContext } from './state/door.ts';
import type { ConsoleDoor } from './state/door.ts';
import { setServerClock } from './state/server-clock.ts';
import { Frame } from './frame.ts';
import { html } from './html.ts';
import type { VNode } from './html.ts';
import { SignIn } from './sign-in.ts';
import { Boundary } from './parts/boundary.ts';
import { Refusal } from './parts/refusal.ts';
import { words } from './words.ts';

type Someone = Me | OperatorMe;
type Standing<S> = { readonly me: S } | 'unknown' | { readonly notice: string } | ApiError;

const SIGNED_OUT = { notice: '' };

/** Draws the console of a door in place of what the page says while it loads. */
export function drawConsole<S extends Someone>(door: ConsoleDoor<S>): void {
  const root = document.getElementById('console');
  if (root === null) return;
  followLinks();
  root.replaceChildren();
  render(html`<${Boundary}><${Console} door=${door} /><//>`, root);
}

function Console<S extends Someone>({ door }: { door: ConsoleDoor<S> }): VNode {
  const [standing, setStanding] = useState<Standing<S>>('unknown');
  const arrive = useCallback((me: S) => {
    setServerClock(me.now);
    setStanding({ me });
  }, []);
  const ask = useCallback(() => {
    api<S>('/me').then(arrive, (error: unknown) => {
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
  if ('notice' in standing)
    return html`<${SignIn} door=${door.signIn} notice=${standing.notice} onSignedIn=${arrive} />`;
  return html`<${VisitorContext.Provider} value=${{ door: door.name, me: standing.me }}>
    <${Frame}
      door=${door}
      who=${door.describe(standing.me)}
      onSignedOut=${(notice: string) => {
        setStanding({ notice });
      }}
    />
  <//>`;
}
