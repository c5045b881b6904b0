import type { ComponentType, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Me, OperatorMe } from './api/session.ts';
import { ConfirmDialog } from './parts/confirm-dialog.tsx';
import { FaultLine, OutageBanner, Skeleton, Boundary, BrokenPage } from './parts/loaded.tsx';
import { findPage } from './routes.ts';
import { useAddress } from './state/address.ts';
import { beginKeeping, forgetKept } from './state/kept-values.ts';
import { speakThrough } from './state/announce.ts';
import { ApiError, api } from './state/api.ts';
import type { ConsoleDoor, DoorQueue } from './state/door.ts';
import { loadModule } from './state/load-page.ts';
import { useOutage } from './state/outage.ts';
import { useServerWatch } from './state/use-server-watch.ts';
import type { WaitingNow } from './state/use-server-watch.ts';
import { words } from './words.ts';

/** The browser has forgotten the session, and the service may not have ended it. */
const INCOMPLETE = 'sign_out_incomplete';

/** The props of every page: the parameters of its address. */
export interface PageProps {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

type Page = ComponentType<PageProps>;

export interface FrameProps<S extends Me | OperatorMe> {
  readonly door: ConsoleDoor<S>;
  /** The person who is signed in. */
  readonly me: S;
  readonly onSignedOut: (notice: string) => void;
}

/** The header, the navigation and the page of the address. */
export function Frame<S extends Me | OperatorMe>({ door, me, onSignedOut }: FrameProps<S>): VNode {
  const { path, query } = useAddress();
  const { route, params } = findPage(door.pages, path);
  const { page: Shown, isMissing } = usePage(route.module);
  const main = useRef<HTMLElement>(null);
  const isShown = Shown !== undefined || isMissing;
  const outage = useOutage();
  const { waiting, me: latest } = useServerWatch(me, door.queue);
  useFocusOnNavigation(main, path, isShown);
  useTitle(main, isShown ? path : undefined, titleCount(waiting, door.queue));
  useReloadAfter(outage !== undefined, isMissing);
  return (
    <>
      <a class="skip" href="#content">
        {words.skip}
      </a>
      <header class="top">
        <a class="brand" href="/console">
          {words.product}
        </a>
        <Navigation door={door} path={path} waiting={waiting} />
        <div class="who">
          <button type="button" class="account" popovertarget="account-menu" title={words.account}>
            {door.describe(me)}
          </button>
          <div id="account-menu" class="menu" popover>
            <SignOut onSignedOut={onSignedOut} />
          </div>
        </div>
      </header>
      <OutageBanner outage={outage} />
      {door.bar === undefined ? null : <door.bar me={latest} />}
      <main id="content" tabindex={-1} ref={main}>
        {isMissing ? (
          <BrokenPage what={words.missingPage} />
        ) : Shown === undefined ? (
          <Skeleton />
        ) : (
          <Boundary key={path}>
            <Shown params={params} query={query} />
          </Boundary>
        )}
      </main>
      <Announcer />
    </>
  );
}

interface NavigationProps {
  readonly door: Omit<ConsoleDoor<never>, 'bar'>;
  readonly path: string;
  readonly waiting: WaitingNow;
}

function Navigation({ door, path, waiting }: NavigationProps): VNode {
  const shown = door.pages.filter(({ nav }) => nav !== undefined);
  const isCurrent = (own: string): boolean =>
    own === '' ? /^\/console\/?$/.test(path) : `${path}/`.startsWith(`/console/${own}/`);
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    // on a phone the line of pages is longer than the screen
    bar.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [path]);
  return (
    <nav aria-label={words.navigation} ref={bar}>
      <ul>
        {shown.map(({ path: own, nav = '' }) => (
          <li key={own}>
            <a href={own === '' ? '/console' : `/console/${own}`} aria-current={isCurrent(own) ? 'page' : undefined}>
              {door.navigation[nav]}
              {nav === door.queue?.nav ? <WaitingCount waiting={waiting} queue={door.queue} /> : null}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The part of a queue that is shown here. */
type NamedQueue = Pick<DoorQueue<never>, 'words'>;

/** Shows how many entries wait, beside the name of their page. Hidden while the queue is empty. */
export function WaitingCount({ waiting, queue }: { waiting: WaitingNow; queue: NamedQueue }): VNode | null {
  if (waiting === undefined || (waiting !== 'unknown' && waiting.count === 0)) return null;
  const { shown, label, unknown } = queue.words;
  const [figure, text] =
    waiting === 'unknown'
      ? ['?', unknown]
      : [shown(waiting.count, waiting.hasMore), label(waiting.count, waiting.hasMore)];
  return (
    <>
      {' '}
      <span class="count" aria-hidden="true">
        {figure}
      </span>
      <span class="spoken"> {text}</span>
    </>
  );
}

/** Returns the beginning of the title of a tab, such as `(3) `. */
export function titleCount(waiting: WaitingNow, queue: NamedQueue | undefined): string {
  if (waiting === undefined || waiting === 'unknown' || waiting.count === 0 || queue === undefined) return '';
  return `(${queue.words.shown(waiting.count, waiting.hasMore)}) `;
}

function Announcer(): VNode {
  const [text, setText] = useState('');
  useEffect(() => speakThrough(setText), []);
  return (
    <div class="spoken" role="status" aria-live="polite">
      {text}
    </div>
  );
}

interface LoadedPage {
  readonly page: Page | undefined;
  /** A file of the page cannot be loaded. */
  readonly isMissing: boolean;
}

/** Loads the module of a page, which is undefined until it is there. */
function usePage(module: string): LoadedPage {
  const [loaded, setLoaded] = useState<(LoadedPage & { readonly module: string }) | undefined>(undefined);
  useEffect(() => {
    let isWanted = true;
    const load = (): Promise<{ readonly page?: Page }> => import(module);
    loadModule(load).then(
      ({ page }) => {
        if (isWanted) setLoaded({ module, page, isMissing: page === undefined });
      },
      () => {
        if (isWanted) setLoaded({ module, page: undefined, isMissing: true });
      },
    );
    return () => {
      isWanted = false;
    };
  }, [module]);
  return loaded?.module === module ? loaded : { page: undefined, isMissing: false };
}

/** After a navigation the focus is on the heading of the new page, as after a load. */
function useFocusOnNavigation(main: { readonly current: HTMLElement | null }, path: string, isShown: boolean): void {
  const first = useRef(true);
  useEffect(() => {
    if (!isShown) return;
    const heading = main.current?.querySelector('h1');
    if (first.current) {
      first.current = false;
      return;
    }
    heading?.setAttribute('tabindex', '-1');
    heading?.focus();
    scrollTo(0, 0);
  }, [path, isShown]);
}

/** The tab is named after the heading of its page, behind the number of entries that wait. */
function useTitle(main: { readonly current: HTMLElement | null }, path: string | undefined, count: string): void {
  useEffect(() => {
    const { current: content } = main;
    const name = (): void => {
      const heading = path === undefined ? undefined : content?.querySelector('h1')?.textContent;
      const title = count + (heading === undefined ? '' : `${heading} · `) + words.product;
      if (document.title !== title) document.title = title;
    };
    name();
    if (content === null) return undefined;
    // a page can know its name only once it is read
    const named = new MutationObserver(name);
    named.observe(content, { childList: true, subtree: true, characterData: true });
    return () => named.disconnect();
  }, [path, count]);
}

/** A page whose file did not arrive in an outage is loaded after it, because it has no input that could be lost. */
function useReloadAfter(isOut: boolean, isMissing: boolean): void {
  const wasOut = useRef(false);
  useEffect(() => {
    if (isMissing && wasOut.current && !isOut) location.reload();
    wasOut.current = isOut;
  }, [isOut, isMissing]);
}

/**
 * Ends the session of this browser, or all sessions of the visitor. `onSignedOut` gets the text to show. Drafts go first:
 * the person may leave although the service cannot be reached.
 */
function SignOut({ onSignedOut }: { onSignedOut: (notice: string) => void }): VNode {
  const [fault, setFault] = useState('');
  const [isAsking, setAsking] = useState(false);
  const end = async (path: '/session' | '/sessions'): Promise<void> => {
    setAsking(false);
    forgetKept();
    try {
      await api(path, { method: 'DELETE' });
      onSignedOut('');
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (error instanceof ApiError && error.code === INCOMPLETE) onSignedOut(message);
      else {
        beginKeeping();
        setFault(message);
      }
    }
  };
  return (
    <>
      <FaultLine text={fault} />
      <button type="button" onClick={() => void end('/session')}>
        {words.signOut}
      </button>
      <button type="button" onClick={() => setAsking(true)}>
        {words.signOutEverywhere.title}
      </button>
      {isAsking ? (
        <ConfirmDialog
          title={words.signOutEverywhere.title}
          confirm={words.signOutEverywhere.title}
          cancel={words.signOutEverywhere.cancel}
          isDanger
          onConfirm={() => void end('/sessions')}
          onCancel={() => setAsking(false)}
        >
          <p>{words.signOutEverywhere.means}</p>
        </ConfirmDialog>
      ) : null}
    </>
  );
}
