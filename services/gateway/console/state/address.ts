import { useEffect, useState } from 'preact/hooks';
import { toBrowserPath, toOwnPath } from './root.ts';

const CHANGED = 'reelgate:address';
const OWN_LINKS = `a[href^="${toBrowserPath('/console')}"]`;

/** The address of the page, without the prefix of a proxy. Its query has the filters, so a page can be sent to others. */
export interface Address {
  readonly path: string;
  readonly query: URLSearchParams;
}

function current(): Address {
  return { path: toOwnPath(location.pathname), query: new URLSearchParams(location.search) };
}

/** Goes to an address below `/console` without loading the console again. */
export function go(path: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (replace) history.replaceState(null, '', toBrowserPath(path));
  else history.pushState(null, '', toBrowserPath(path));
  dispatchEvent(new Event(CHANGED));
}

/** Changes parameters of the query and keeps the others; an empty value removes one. */
export function setQuery(changes: Readonly<Record<string, string>>, how?: { readonly replace?: boolean }): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  go(toOwnPath(location.pathname) + (text === '' ? '' : `?${text}`), how);
}

export function useAddress(): Address {
  const [address, setAddress] = useState(current);
  useEffect(() => {
    const update = (): void => {
      setAddress(current());
    };
    addEventListener('popstate', update);
    addEventListener(CHANGED, update);
    return () => {
      removeEventListener('popstate', update);
      removeEventListener(CHANGED, update);
    };
  }, []);
  return address;
}

/** Lets links of the console change the page without loading it, unless a person wants a new tab. */
export function followLinks(): void {
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest(OWN_LINKS) : null;
    if (!(link instanceof HTMLAnchorElement) || !isForPage(link) || !isPlainClick(event)) return;
    event.preventDefault();
    if (link.hash !== '' && link.pathname === location.pathname && link.search === location.search) {
      document.getElementById(link.hash.slice(1))?.focus();
      return;
    }
    go(toOwnPath(link.pathname) + link.search);
  });
}

function isForPage(link: HTMLAnchorElement): boolean {
  return link.target === '' && !link.hasAttribute('download') && !toOwnPath(link.pathname).startsWith('/console/api/');
}

function isPlainClick(event: MouseEvent): boolean {
  return !event.defaultPrevented && event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
}
