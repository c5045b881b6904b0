import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { serverNow } from '../state/api.ts';
import { words } from '../words.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** From here on tenths of a second say nothing. */
const WHOLE_FROM_MS = 10 * SECOND_MS;
const TICK_MS = 1000;

/** Writes `0.8 s`, `47 s`, `12 min 5 s`, `3 h 20 min` or `4 d 2 h`. */
export function durationText(ms: number): string {
  const whole = (value: number, unit: number): string => String(Math.floor(value / unit));
  if (ms < WHOLE_FROM_MS) return `${(Math.round(Math.max(0, ms) / 100) / 10).toFixed(1)} s`;
  if (ms < 2 * MINUTE_MS) return `${Math.round(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return `${whole(ms, MINUTE_MS)} min ${whole(ms % MINUTE_MS, SECOND_MS)} s`;
  if (ms < DAY_MS) return `${whole(ms, HOUR_MS)} h ${whole(ms % HOUR_MS, MINUTE_MS)} min`;
  return `${whole(ms, DAY_MS)} d ${whole(ms % DAY_MS, HOUR_MS)} h`;
}

/** Writes `2 min 3 s ago` or `in 4 h 10 min`. */
export function relativeText(at: number, now: number): string {
  const ms = now - at;
  if (Math.abs(ms) < SECOND_MS) return words.time.now;
  return ms > 0 ? words.time.ago(roundDuration(ms)) : words.time.in(roundDuration(-ms));
}

/** A distance in time does not need its second unit for long. */
function roundDuration(ms: number): string {
  if (ms < 2 * MINUTE_MS)
    return durationText(ms < WHOLE_FROM_MS ? Math.floor(ms / SECOND_MS) * SECOND_MS : ms).replace('.0', '');
  return durationText(ms).replace(/ \d+ (s|min|h)$/, '');
}

const LOCAL = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

export function localText(at: number): string {
  return LOCAL.format(new Date(at));
}

const CLOCK = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

/** The time of the day alone. */
export function clockText(at: number): string {
  return CLOCK.format(new Date(at));
}

export function utcText(at: number): string {
  return words.time.utc(new Date(at).toISOString().slice(0, 19).replace('T', ' '));
}

/** The time of the service, told again every second while something of the page grows. */
export function useNow(isRunning = true): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => setNow(serverNow()), TICK_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
  return now;
}

/** A time as a distance; its title has the exact time in UTC. */
export function Ago({ at }: { at: number | undefined }): VNode {
  const now = useNow();
  if (at === undefined) return <>–</>;
  return (
    <time datetime={new Date(at).toISOString()} title={utcText(at)}>
      {relativeText(at, now)}
    </time>
  );
}

/** A time in the zone of the viewer; its title has it in UTC. */
export function At({ at }: { at: number | undefined }): VNode {
  if (at === undefined) return <>–</>;
  return (
    <time datetime={new Date(at).toISOString()} title={utcText(at)}>
      {localText(at)}
    </time>
  );
}

/** Writes how long a call took: `25 ms`, `1.9 s`. Most calls take less than a second. */
export function spanText(ms: number): string {
  return ms < SECOND_MS ? `${Math.max(1, Math.round(ms))} ms` : durationText(ms);
}
