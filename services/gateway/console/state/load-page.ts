/** The address of each file has the release that it belongs to. */
const RELEASE = /\/console\/a\/([^/"]+)\//;
const SHELL_DEADLINE_MS = 10_000;
const RELOADED_FOR = 'reelgate.reloaded-for';

export interface Releases {
  /** The release of the files that run here. */
  readonly own: string | undefined;
  /** The release that the service has now; undefined: it did not say. */
  readonly served: string | undefined;
  /** The release for which this tab was reloaded last. */
  readonly reloadedFor: string | undefined;
}

/** Tells whether a reload can help: the files of a former release are gone. A tab reloads once for each release. */
export function needsReload({ own, served, reloadedFor }: Releases): boolean {
  return served !== undefined && served !== own && served !== reloadedFor;
}

/** The release in the address of a file, or in the text of a page. */
export function readRelease(text: string): string | undefined {
  return RELEASE.exec(text)?.[1];
}

/** Imports a module of this release. Where a new release is served, it reloads the tab instead and never returns. */
export async function loadModule<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const served = await readServedRelease();
    const releases = { own: readRelease(import.meta.url), served, reloadedFor: readReloaded() };
    if (served === undefined || !needsReload(releases) || !keepReloaded(served)) throw error;
    location.reload();
    return new Promise<never>(() => undefined);
  }
}

async function readServedRelease(): Promise<string | undefined> {
  try {
    const shell = await fetch('/console', { cache: 'no-store', signal: AbortSignal.timeout(SHELL_DEADLINE_MS) });
    return shell.ok ? readRelease(await shell.text()) : undefined;
  } catch {
    return undefined;
  }
}

function readReloaded(): string | undefined {
  try {
    return sessionStorage.getItem(RELOADED_FOR) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Returns false if the browser keeps nothing: a reload could then follow another without end. */
function keepReloaded(release: string): boolean {
  try {
    sessionStorage.setItem(RELOADED_FOR, release);
    return true;
  } catch {
    return false;
  }
}
