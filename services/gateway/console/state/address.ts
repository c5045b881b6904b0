import { useEffect, useState } from 'preact/hooks';

/** The files of the console lie below `/console/a/`, behind the prefix of a proxy. */
const FILES = /^(.*)\/console\/a\/[^/]+\//;
const root = readRoot(import.meta.url);

/** Returns the prefix of a proxy from the address of a file of the console; empty if there is none. */
function readRoot(file: string): string {
  return FILES.exec(new URL(file).pathname)?.[1] ?? '';
}

/** Puts the prefix before a path of this service, such as `/console/tasks`, for the browser. */
export function toBrowserPath(path: string): string {
  return root + path;
}

/** Takes the prefix off a path of the browser. */
function toOwnPath(path: string): string {
  return path.startsWith(`${root}/`) ? path.slice(root.length) : path;
}

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
    const update = (): void => setAddress(current());
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

/**
 * Keeps what is typed into a field whose value stands in the address until it is applied. The list below the field is
 * drawn again with each change of a task, and Preact then gives the field its value back. Another value in the address
 * replaces what was typed for good.
 */
export function useDraft(value: string): readonly [string, (typed: string) => void] {
  const [draft, setDraft] = useState({ value, typed: value });
  const keep = (typed: string): void => setDraft({ value, typed });
  if (draft.value !== value) keep(value);
  return [draft.value === value ? draft.typed : value, keep];
}
