const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;

/** Sums each of the last 60 minutes, the oldest first. The last one is the running minute. */
export function sumLastHour<M extends { readonly at: number }>(
  minutes: readonly M[],
  now: number,
  count: (minute: M) => number,
): readonly number[] {
  const last = Math.floor(now / MINUTE_MS);
  const sums = Array.from({ length: HOUR_MINUTES }, () => 0);
  for (const minute of minutes) {
    const place = HOUR_MINUTES - 1 - (last - Math.floor(minute.at / MINUTE_MS));
    if (place in sums) sums[place] = (sums[place] ?? 0) + count(minute);
  }
  return sums;
}

/** Sums the running minute and those before it, this many in all. */
export function sumLast<M extends { readonly at: number }>(
  { minutes, now }: { readonly minutes: readonly M[]; readonly now: number },
  count: number,
  value: (minute: M) => number,
): number {
  return sumLastHour(minutes, now, value)
    .slice(-count)
    .reduce((sum, one) => sum + one, 0);
}

/** The length of the running minute and those before it, in minutes. */
export function lengthOfLast(count: number, now: number): number {
  return count - 1 + (now % MINUTE_MS) / MINUTE_MS;
}
