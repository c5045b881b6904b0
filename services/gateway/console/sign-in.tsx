import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Me, OperatorMe } from './api/session.ts';
import { ApiError, api } from './state/api.ts';
import type { SignInField } from './state/door.ts';
import { words } from './words.ts';

export interface SignInProps<S extends Me | OperatorMe> {
  readonly door: SignInField;
  /** The message about the session before; can be empty. */
  readonly notice: string;
  readonly onSignedIn: (me: S) => void;
}

/** One field. The token goes into a sealed cookie and stays nowhere else. */
export function SignIn<S extends Me | OperatorMe>(props: SignInProps<S>): VNode {
  const {
    door: { field, label, hasDocs },
    notice,
    onSignedIn,
  } = props;
  const [fault, setFault] = useState(notice);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const value = new FormData(form).get(field);
    setBusy(true);
    try {
      onSignedIn(
        await api<S>('/session', {
          method: 'POST',
          body: { [field]: typeof value === 'string' ? value : '' },
        }),
      );
    } catch (error) {
      setFault(error instanceof ApiError ? error.message : String(error));
      setBusy(false);
    }
  };
  return (
    <main class="alone">
      <h1>{words.product}</h1>
      <form class="card" onSubmit={(event) => void submit(event)}>
        <h2>{words.signIn.title}</h2>
        <label for="key">{label}</label>
        <input
          id="key"
          name={field}
          type="password"
          autocomplete="current-password"
          required
          aria-describedby="kept fault"
          aria-invalid={fault === '' ? undefined : 'true'}
        />
        <p id="kept" class="hint small quiet">
          {words.signIn.kept}
        </p>
        <p id="fault" class="fault" role="alert">
          {fault}
        </p>
        <button type="submit" class="main" disabled={isBusy}>
          {words.signIn.submit}
        </button>
      </form>
      {hasDocs ? (
        <p class="small">
          <a href="/docs">{words.signIn.docs}</a>
        </p>
      ) : null}
    </main>
  );
}
