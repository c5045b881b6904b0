/** The name of a value of a form in this tab, for each account apart. It ends with the tab. */
function buildKey(accountId: string, name: string): string {
  return `reelgate.${name}.${accountId}`;
}

/** Returns the kept value; undefined: there is none, or the browser refuses pages a storage. */
export function readKept(accountId: string, name: string): unknown {
  try {
    const text = sessionStorage.getItem(buildKey(accountId, name));
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function writeKept(accountId: string, name: string, value: unknown): void {
  try {
    sessionStorage.setItem(buildKey(accountId, name), JSON.stringify(value));
  } catch {
    // the form works without it
  }
}
