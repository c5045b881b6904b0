/** What a form keeps in this tab, for each account apart. It ends with the tab. */
function keyOf(accountId: string, name: string): string {
  return `reelgate.${name}.${accountId}`;
}

/** What was kept; undefined: nothing was, or the browser refuses pages a storage. */
export function readKept(accountId: string, name: string): unknown {
  try {
    const text = sessionStorage.getItem(keyOf(accountId, name));
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function writeKept(accountId: string, name: string, value: unknown): void {
  try {
    sessionStorage.setItem(keyOf(accountId, name), JSON.stringify(value));
  } catch {
    // the form works without it
  }
}
