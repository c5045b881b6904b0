const WAIT_MAX_S = 60;

/** The seconds of `Prefer: wait=N`, at most 60; undefined if the client does not ask to wait. */
export function readPreferredWait(header: string | string[] | undefined): number | undefined {
  if (header === undefined) return undefined;
  const preferences = [header]
    .flat()
    .join(',')
    .split(/[,;]/)
    .map((part) => part.trim());
  const [, seconds] =
    preferences.map((part) => /^wait\s*=\s*"?(\d{1,9})"?$/i.exec(part)).find((found) => found !== null) ?? [];
  return seconds === undefined || Number(seconds) === 0 ? undefined : Math.min(WAIT_MAX_S, Number(seconds));
}
