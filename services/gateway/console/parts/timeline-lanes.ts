import type { Lane, TimelineEntry } from '../api/task.ts';

/** The width of the bar in its own units. */
export const BAR_UNITS = 1000;
/** Minimum width of a span, so that a step that takes no time is still seen. */
const UNITS_MIN = 6;
/** From here on time that no step explains is named. */
const GAP_MS = 10_000;
/** A webhook that is repeated for days would press the rest together, so the bar leaves it to the list. */
const TAIL_SHARE = 0.25;
const ORDER: readonly Lane[] = ['service', 'upstream', 'money', 'client'];
const ENDS: ReadonlySet<string> = new Set(['completed', 'failed']);

/** A part of a lane of the bar. */
export interface Span {
  readonly entry: TimelineEntry;
  readonly x: number;
  readonly width: number;
}

export interface Bar {
  readonly from: number;
  readonly to: number;
  readonly lanes: readonly { readonly lane: Lane; readonly spans: readonly Span[] }[];
}

/** An entry of the list, or time between two that nothing explains. */
export type Line =
  | { readonly kind: 'entry'; readonly entry: TimelineEntry }
  | { readonly kind: 'gap'; readonly from: number; readonly to: number | undefined };

/** The bar above the list. Unfinished steps reach to `now`. */
export function buildBar(entries: readonly TimelineEntry[], now: number): Bar | undefined {
  const work = entries.filter(({ lane }) => lane !== 'client');
  if (work.length === 0) return undefined;
  const from = Math.min(...work.map((entry) => entry.from));
  const workEnd = Math.max(...work.map((entry) => readEnd(entry, now)));
  const tail = workEnd + TAIL_SHARE * (workEnd - from);
  const drawn = entries.filter((entry) => entry.lane !== 'client' || entry.from <= tail);
  const to = Math.max(from + 1, workEnd, ...drawn.map((entry) => Math.min(readEnd(entry, now), tail)));
  const toSpan = (entry: TimelineEntry): Span => {
    const scaled = (at: number): number => Math.round((BAR_UNITS * (Math.min(at, to) - from)) / (to - from));
    const width = Math.max(UNITS_MIN, scaled(readEnd(entry, now)) - scaled(entry.from));
    return { entry, x: Math.max(0, Math.min(scaled(entry.from), BAR_UNITS - width)), width };
  };
  const lanes = ORDER.map((lane) => ({ lane, spans: drawn.filter((entry) => entry.lane === lane).map(toSpan) }));
  return { from, to, lanes: lanes.filter(({ spans }) => spans.length > 0) };
}

/** The list, with the gaps between the steps of the work. */
export function buildLines(entries: readonly TimelineEntry[], now: number): readonly Line[] {
  const lines: Line[] = [];
  const work = entries.filter(({ lane }) => lane === 'service' || lane === 'upstream');
  const last = work.at(-1);
  let reached = work[0]?.from ?? 0;
  for (const entry of entries) {
    if (work.includes(entry)) {
      if (entry.from - reached >= GAP_MS) lines.push({ kind: 'gap', from: reached, to: entry.from });
      reached = Math.max(reached, readEnd(entry, now));
    }
    lines.push({ kind: 'entry', entry });
  }
  if (last !== undefined && !ENDS.has(last.step) && now - reached >= GAP_MS)
    lines.push({ kind: 'gap', from: reached, to: undefined });
  return lines;
}

/** Reports whether a step is long enough to be named by its duration. */
export function isLong({ from, to }: TimelineEntry, now: number): boolean {
  return (to ?? now) - from >= GAP_MS;
}

export function readEnd({ to }: TimelineEntry, now: number): number {
  return to ?? now;
}
