import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api } from './state/api.ts';
import { useAddress } from './state/address.ts';
import { speakThrough } from './state/announce.ts';
import type { Visitor } from './state/door.ts';
import { html } from './html.ts';
import type { VNode } from './html.ts';
import { LiveSwitch } from './parts/live-switch.ts';
import { PAGES, findPage } from './routes.ts';
import type { Door } from './routes.ts';
import { words } from './words.ts';

/** What every page gets: the parameters of its address. */
export interface PageProps {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

type Page = ComponentType<PageProps>;

/** The header, the navigation and the page of the address. */
export function Frame({ visitor, onSignedOut }: { visitor: Visitor; onSignedOut: () => void }): VNode {
  const { path, query } = useAddress();
  const { route, params } = findPage(visitor.door, path);
  const Shown = usePage(route.module);
  const main = useRef<HTMLElement>(null);
  useFocusOnNavigation(main, path, Shown !== undefined);
  const who = visitor.door === 'client' ? visitor.me.accountId : `${visitor.me.name} (${visitor.me.role})`;
  const signOut = async (): Promise<void> => {
    await api('/session', { method: 'DELETE' });
    onSignedOut();
  };
  return html`
    <a class="skip" href="#content">${words.skip}</a>
    <header class="top">
      <a class="brand" href="/console">${words.product}</a>
      <${Navigation} door=${visitor.door} path=${path} />
      <div class="who">
        <${LiveSwitch} />
        <span>${who}</span>
        <button type="button" class="quiet" onClick=${() => void signOut()}>${words.signOut}</button>
      </div>
    </header>
    <main id="content" tabindex="-1" ref=${main}>
      ${Shown === undefined ? html`<p class="quiet">${words.loading}</p>` : html`<${Shown} key=${path} params=${params} query=${query} />`}
    </main>
    <${Announcer} />
  `;
}

function Navigation({ door, path }: { door: Door; path: string }): VNode {
  const shown = PAGES[door].filter(({ nav }) => nav !== undefined);
  const names: Readonly<Record<string, string>> = words.nav;
  const isCurrent = (own: string): boolean =>
    own === '' ? /^\/console\/?$/.test(path) : `${path}/`.startsWith(`/console/${own}/`);
  return html`<nav aria-label=${words.navigation}>
    <ul>
      ${shown.map(
        ({ path: own, nav = '' }) =>
          html`<li key=${own}>
            <a href=${own === '' ? '/console' : `/console/${own}`} aria-current=${isCurrent(own) ? 'page' : undefined}>
              ${names[nav]}
            </a>
          </li>`,
      )}
    </ul>
  </nav>`;
}

function Announcer(): VNode {
  const [text, setText] = useState('');
  useEffect(() => {
    speakThrough(setText);
  }, []);
  return html`<div class="spoken" role="status" aria-live="polite">${text}</div>`;
}

/** Loads the module of a page; undefined until it is there. */
function usePage(module: string): Page | undefined {
  const [loaded, setLoaded] = useState<{ readonly module: string; readonly page: Page } | undefined>(undefined);
  useEffect(() => {
    let isWanted = true;
    import(`./${module}`).then(
      ({ page }: { readonly page: Page }) => {
        if (isWanted) setLoaded({ module, page });
      },
      // the service has a new release, and the files of this one are gone
      () => {
        location.reload();
      },
    );
    return () => {
      isWanted = false;
    };
  }, [module]);
  return loaded?.module === module ? loaded.page : undefined;
}

/** After a navigation the focus is on the heading of the new page, as after a load. */
function useFocusOnNavigation(main: { readonly current: HTMLElement | null }, path: string, isShown: boolean): void {
  const first = useRef(true);
  useEffect(() => {
    if (!isShown) return;
    const heading = main.current?.querySelector('h1');
    document.title =
      heading === null || heading === undefined ? words.product : `${heading.textContent} · ${words.product}`;
    if (first.current) {
      first.current = false;
      return;
    }
    heading?.setAttribute('tabindex', '-1');
    heading?.focus();
    scrollTo(0, 0);
  }, [path, isShown]);
}
