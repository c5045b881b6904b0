/** The begin of the names of all that is kept in a tab. */
const PREFIX = 'reelgate.kept.';
/** In the storage of the browser: changes with each sign-out, so that every tab notices. */
const SIGNED_OUT = 'reelgate.signed-out';
/** In the storage of the tab: the sign-out that its values are younger than. */
const YOUNGER_THAN = 'reelgate.younger-than';

/** Grows with each sign-out of this tab. Work of an earlier session must not go on in the next one. */
let session = 0;
let isKeeping = false;

/** The name of a value of a form in this tab, for each account apart. It ends with the tab, and with the session. */
function buildKey(accountId: string, name: string): string {
  return `${PREFIX}${name}.${accountId}`;
}

/** Returns the kept value; undefined if there is none, or if the browser refuses pages a storage. */
export function readKept(accountId: string, name: string): unknown {
  return withStorage(() => {
    const text = sessionStorage.getItem(buildKey(accountId, name));
    return text === null ? undefined : (JSON.parse(text) as unknown);
  });
}

/** Keeps a value until the tab or the session ends. Without a storage the form works too. */
export function writeKept(accountId: string, name: string, value: unknown): void {
  if (!isKeeping) return;
  withStorage(() => {
    if (value === undefined) sessionStorage.removeItem(buildKey(accountId, name));
    else sessionStorage.setItem(buildKey(accountId, name), JSON.stringify(value));
  });
}

/** Returns the number of the session, which a later session does not have. */
export function readSession(): number {
  return session;
}

/** Keeps values from now on, for the person who is signed in. Values from before the last sign-out are removed. */
export function beginKeeping(): void {
  isKeeping = true;
  withStorage(() => {
    const last = localStorage.getItem(SIGNED_OUT) ?? '';
    if ((sessionStorage.getItem(YOUNGER_THAN) ?? '') === last) return;
    removeKept();
    sessionStorage.setItem(YOUNGER_THAN, last);
  });
}

/** Removes all that is kept, in every tab of this browser, because a person has signed out. */
export function forgetKept(): void {
  isKeeping = false;
  session += 1;
  withStorage(() => {
    removeKept();
    localStorage.setItem(SIGNED_OUT, crypto.getRandomValues(new Uint32Array(2)).join('-'));
  });
}

/** Removes what this tab keeps when a person signs out in another one. */
export function followSignOuts(): void {
  addEventListener('storage', ({ key }) => {
    if (key === SIGNED_OUT) withStorage(removeKept);
  });
}

/** Returns a choice of this browser, which outlasts the session; undefined if none is kept or a storage is refused. */
export function readChoice(name: string): string | undefined {
  return withStorage(() => localStorage.getItem(name) ?? undefined);
}

export function keepChoice(name: string, value: string): void {
  withStorage(() => localStorage.setItem(name, value));
}

function removeKept(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
}

function withStorage<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}
