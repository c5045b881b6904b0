import type { VNode } from 'preact';
import { options, render } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Me, OperatorMe } from './api/session.ts';
import { ApiError, api, endsSession, onSignedOut, serverNow, setServerClock } from './state/api.ts';
import { followLinks, toBrowserPath } from './state/address.ts';
import { beginKeeping, followSignOuts } from './state/kept-values.ts';
import { VisitorContext } from './state/door.ts';
import type { ConsoleDoor, SignInField, Visitor } from './state/door.ts';
import { hearServer, isOutage, judgeOutage, useRetry } from './state/outage.ts';
import { Frame } from './frame.tsx';
import { Boundary, OutageBanner, Skeleton, Refusal } from './parts/loaded.tsx';
import { words } from './words.ts';

type Someone = Me | OperatorMe;
type SessionState<S> = { readonly me: S } | 'unknown' | { readonly notice: string } | ApiError;

const SIGNED_OUT = { notice: '' };
/** The attributes of an element that hold an address. */
const ADDRESSES = ['href', 'src', 'action', 'poster'] as const;
const OWN_PATH = /^\/(console|docs)(?=$|[/?#])/;

/** Draws the console of a door in place of what the page says while it loads. */
export function drawConsole<S extends Someone>(door: ConsoleDoor<S>): void {
  const root = document.getElementById('console');
  if (root === null) return;
  prefixOwnAddresses();
  keepIcon();
  followLinks();
  followSignOuts();
  root.replaceChildren();
  render(
    <Boundary>
      <Console door={door} />
    </Boundary>,
    root,
  );
}

/** From here on paths of this service, wherever a page names one, get the prefix of a proxy. */
function prefixOwnAddresses(): void {
  options.vnode = ({ type, props }) => {
    if (typeof type === 'string') prefixAddresses(props);
  };
}

function prefixAddresses(props: Record<string, unknown>): void {
  for (const name of ADDRESSES) {
    const path = props[name];
    if (typeof path === 'string' && OWN_PATH.test(path)) props[name] = toBrowserPath(path);
  }
}

/** Keeps the icon when the address of the page changes: its own address in the shell is relative. */
function keepIcon(): void {
  const icon = document.head.querySelector<HTMLLinkElement>('link[rel~=icon]');
  icon?.setAttribute('href', icon.href);
}

function Console<S extends Someone>({ door }: { door: ConsoleDoor<S> }): VNode {
  const [standing, setStanding] = useState<SessionState<S>>('unknown');
  const [failures, setFailures] = useState(0);
  const arrive = useCallback((me: S) => {
    setServerClock(me.now);
    hearServer();
    beginKeeping();
    setStanding({ me });
  }, []);
  const ask = useCallback(() => {
    api<S>('/me').then(arrive, (error: unknown) => {
      const isOut = error instanceof ApiError && endsSession(error);
      setStanding(isOut || !(error instanceof ApiError) ? SIGNED_OUT : error);
      setFailures((before) => (error instanceof ApiError && isOutage(error) ? before + 1 : 0));
    });
  }, [arrive]);
  useEffect(() => {
    onSignedOut(() => setStanding(SIGNED_OUT));
    ask();
  }, [ask]);
  useRetry(standing instanceof ApiError ? failures : 0, ask);
  if (standing === 'unknown')
    return (
      <div class="alone">
        <Skeleton of="text" count={3} />
      </div>
    );
  if (standing instanceof ApiError)
    return (
      <main class="alone">
        <Unstarted error={standing} retry={ask} />
      </main>
    );
  if ('notice' in standing) return <SignIn door={door.signIn} notice={standing.notice} onSignedIn={arrive} />;
  return (
    <VisitorContext.Provider value={{ door: door.name, me: standing.me } as Visitor}>
      <Frame door={door} me={standing.me} onSignedOut={(notice) => setStanding({ notice })} />
    </VisitorContext.Provider>
  );
}

/** Says why the console cannot begin. It goes on by itself once the server is back. */
function Unstarted({ error, retry }: { error: ApiError; retry: () => void }): VNode {
  if (!isOutage(error)) return <Refusal error={error} retry={retry} />;
  const failed = { status: error.status, startedAt: serverNow(), goodAt: undefined };
  return (
    <>
      <h1>{words.product}</h1>
      <OutageBanner outage={judgeOutage([failed], undefined)} />
      <p>{words.outage.nothing}</p>
      <button type="button" onClick={retry}>
        {words.tryAgain}
      </button>
    </>
  );
}

export interface SignInProps<S extends Me | OperatorMe> {
  readonly door: SignInField;
  /** The message about the session before; can be empty. */
  readonly notice: string;
  readonly onSignedIn: (me: S) => void;
}

/** One field. The token goes into a sealed cookie and stays nowhere else. */
function SignIn<S extends Me | OperatorMe>(props: SignInProps<S>): VNode {
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
