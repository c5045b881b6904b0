/** The address of each file has the release that it belongs to. */
const RELEASE = /\/console\/a\/([^/"]+)\//;
/** From this file, because a proxy can put a prefix before all addresses. */
const SHELL = '../../../../console';
const SHELL_DEADLINE_MS = 10_000;
const RELOADED_FOR = 'reelgate.reloaded-for';
/** The message of the shell once a file is known to be missing. */
const LOST = 'data-lost';
const OWN_STYLES = 'link[rel=stylesheet][href*="/console/a/"]';

export interface Releases {
  /** The release of the files that run here. */
  readonly own: string | undefined;
  /** The release that the service reports, or undefined if it reports no release. */
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
    if (!(await reloadForRelease())) throw error;
    return new Promise<never>(() => undefined);
  }
}

/**
 * Loads the console. Until it draws, the tab has the text of the shell, which says that a file is missing. The text
 * appears after some seconds by its style alone, so it also does where this module is what is missing.
 */
export function startConsole(load: () => Promise<unknown>): void {
  loadModule(load).catch((error: unknown) => {
    reportError(error);
    for (const waiting of document.querySelectorAll<HTMLElement>(`[${LOST}]`)) {
      waiting.textContent = waiting.getAttribute(LOST);
      waiting.closest('.unloaded')?.classList.add('lost');
    }
  });
  addEventListener('load', () => {
    // without its style the console is plain, and works
    const isPlain = [...document.querySelectorAll<HTMLLinkElement>(OWN_STYLES)].some(({ sheet }) => sheet === null);
    if (isPlain) void reloadForRelease();
  });
}

/** Reloads the tab if another release is served and the tab was not reloaded for it. Returns whether it does. */
async function reloadForRelease(): Promise<boolean> {
  const served = await readServedRelease();
  const releases = { own: readRelease(import.meta.url), served, reloadedFor: readReloaded() };
  if (served === undefined || !needsReload(releases) || !keepReloaded(served)) return false;
  location.reload();
  return true;
}

async function readServedRelease(): Promise<string | undefined> {
  try {
    const address = new URL(SHELL, import.meta.url);
    const shell = await fetch(address, { cache: 'no-store', signal: AbortSignal.timeout(SHELL_DEADLINE_MS) });
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
