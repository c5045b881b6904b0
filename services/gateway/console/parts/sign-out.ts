import { useState } from 'preact/hooks';
import { html } from '../html.ts';
import type { VNode } from '../html.ts';
import { ApiError, api } from '../state/api.ts';
import { words } from '../words.ts';
import { ConfirmDialog } from './confirm-dialog.ts';

/** The browser has forgotten the session, and the service may not have ended it. */
const INCOMPLETE = 'sign_out_incomplete';

/** Ends the session of this browser, or all sessions of who is signed in. `onSignedOut` gets what is to be said of it. */
export function SignOut({ onSignedOut }: { onSignedOut: (notice: string) => void }): VNode {
  const [fault, setFault] = useState('');
  const [isAsking, setAsking] = useState(false);
  const end = async (path: '/session' | '/sessions'): Promise<void> => {
    setAsking(false);
    try {
      await api(path, { method: 'DELETE' });
      onSignedOut('');
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (error instanceof ApiError && error.code === INCOMPLETE) onSignedOut(message);
      else setFault(message);
    }
  };
  return html`<span class="fault" role="alert">${fault}</span>
    <button type="button" class="quiet" onClick=${() => void end('/session')}>${words.signOut}</button>
    <button
      type="button"
      class="quiet"
      onClick=${() => {
        setAsking(true);
      }}
    >
      ${words.signOutEverywhere.title}
    </button>
    ${
      isAsking
        ? html`<${ConfirmDialog}
            title=${words.signOutEverywhere.title}
            confirm=${words.signOutEverywhere.title}
            cancel=${words.signOutEverywhere.cancel}
            isDanger
            onConfirm=${() => void end('/sessions')}
            onCancel=${() => {
              setAsking(false);
            }}
          >
            <p>${words.signOutEverywhere.means}</p>
          <//>`
        : null
    }`;
}
