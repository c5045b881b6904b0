import { Fragment } from 'preact';
import type { VNode } from 'preact';
import type { Step, TimelineEntry, Lane } from '../api/task.ts';
import { moneyText } from './number-text.tsx';
import type { Colour } from './timeline-words.ts';
import { timelineWords as words } from './timeline-words.ts';
import { clockText, durationText, utcText } from './time.tsx';

const LANE_HEIGHT = 14;
/** Less than this is no time to a reader. */
const SHOWN_MS = 50;
/** The width of the bar in its own units. */
const BAR_UNITS = 1000;
/** Minimum width of a span, so that a step that takes no time is still seen. */
const UNITS_MIN = 6;
/** From here on time that no step explains is named. */
const GAP_MS = 10_000;
/** A webhook that is repeated for days would press the rest together, so the bar leaves it to the list. */
const TAIL_SHARE = 0.25;
const ORDER: readonly Lane[] = ['service', 'upstream', 'money', 'client'];
const ENDS: ReadonlySet<string> = new Set(['completed', 'failed']);

/** The life of a task: a bar for the proportions, and a list that says the same in words. */
export function Timeline({ entries, now }: { entries: readonly TimelineEntry[]; now: number }): VNode {
  const bar = buildBar(entries, now);
  const start = bar?.from ?? entries[0]?.from ?? now;
  if (entries.length === 0) return <p class="quiet">{words.empty}</p>;
  return (
    <div class="timeline">
      {bar === undefined ? null : (
        <>
          <TimelineBar bar={bar} now={now} />
          <Legend bar={bar} />
        </>
      )}
      <ol>
        {buildLines(entries, now).map((line) => (
          <TimelineLine key={toLineKey(line)} line={line} start={start} now={now} />
        ))}
      </ol>
    </div>
  );
}

function TimelineBar({ bar, now }: { bar: Bar; now: number }): VNode {
  const length = bar.to - bar.from;
  return (
    <div class="lanes" aria-hidden="true">
      {bar.lanes.map(({ lane, spans }) => (
        <Fragment key={lane}>
          <span>{words.lanes[lane]}</span>
          <svg viewBox={`0 0 ${BAR_UNITS} ${LANE_HEIGHT}`} preserveAspectRatio="none" focusable="false">
            <rect class="ground" width={BAR_UNITS} height={LANE_HEIGHT} />
            {spans.map(({ entry, x, width }) => (
              <rect
                class={`step ${COLOURS[entry.step]}${entry.to === undefined ? ' open' : ''}`}
                x={x}
                width={width}
                height={LANE_HEIGHT}
              >
                <title>{describeEntry(entry, now)}</title>
              </rect>
            ))}
          </svg>
        </Fragment>
      ))}
      <span />
      <span class="axis">
        <span>0 s</span>
        <span>{durationText(length / 2)}</span>
        <span>{durationText(length)}</span>
      </span>
    </div>
  );
}

/** The colour of each step in the bar. */
const COLOURS: Readonly<Record<Step, Colour>> = {
  created: 'ours',
  submitted: 'ours',
  fetched: 'ours',
  prepared: 'waits',
  queued: 'waits',
  checked: 'waits',
  in_progress: 'makes',
  held: 'holds',
  completed: 'done',
  settled: 'done',
  webhook: 'done',
  failed: 'failed',
};

/** Says what the colours of this bar mean. The list below it says the same in words. */
function Legend({ bar }: { bar: Bar }): VNode {
  const shown = new Set(bar.lanes.flatMap(({ spans }) => spans.map(({ entry }) => COLOURS[entry.step])));
  const colours = Object.values(COLOURS).filter((colour, at, all) => all.indexOf(colour) === at && shown.has(colour));
  return (
    <ul class="lane-legend" aria-label={words.legend.title}>
      {colours.map((colour) => (
        <li key={colour}>
          <i class={`swatch ${colour}`} aria-hidden="true" />
          {words.legend[colour]}
        </li>
      ))}
    </ul>
  );
}

function TimelineLine({ line, start, now }: { line: Line; start: number; now: number }): VNode {
  const { from } = line.kind === 'gap' ? line : line.entry;
  return (
    <li class={line.kind === 'gap' ? 'gap' : `step ${line.entry.step}`}>
      <time datetime={new Date(from).toISOString()} title={utcText(from)}>
        {clockText(from)}
      </time>
      <span class="quiet">{words.after(durationText(from - start))}</span>
      <span>{line.kind === 'gap' ? gapText(line, now) : <EntryText entry={line.entry} now={now} />}</span>
    </li>
  );
}

function EntryText({ entry, now }: { entry: TimelineEntry; now: number }): VNode {
  const [label, duration] = describeStep(entry, now);
  return (
    <>
      {label}
      {duration === undefined ? null : <span class="quiet"> · {duration}</span>}
    </>
  );
}

/** Returns the text of a step, and its duration. A long one is named by its duration. */
function describeStep(entry: TimelineEntry, now: number): readonly [label: string, duration: string | undefined] {
  const duration = describeDuration(entry, now);
  const long = entry.to !== undefined && isLong(entry, now) ? words.long[entry.step] : undefined;
  if (long !== undefined && duration !== undefined) return [long(duration), undefined];
  return [labelStep(entry), entry.to === undefined && duration !== undefined ? words.soFar(duration) : duration];
}

/** Returns the name of a step, with its fact. */
function labelStep({ step, to, detail = '' }: TimelineEntry): string {
  const [done, open] = words.steps[step];
  const label = to === undefined ? open : done;
  if (detail === '') return label;
  return step === 'webhook' ? `${label}, ${words.answered(detail)}` : `${label} ${amountText(detail)}`;
}

/** Returns the duration of a step; undefined if it takes no time, or if its time is that of the whole task. */
function describeDuration(entry: TimelineEntry, now: number): string | undefined {
  if (entry.step === 'held' || (entry.to !== undefined && entry.to - entry.from < SHOWN_MS)) return undefined;
  return durationText(readEnd(entry, now) - entry.from);
}

function describeEntry(entry: TimelineEntry, now: number): string {
  return describeStep(entry, now).filter(Boolean).join(' · ');
}

function gapText({ from, to }: Extract<Line, { kind: 'gap' }>, now: number): string {
  return to === undefined ? words.openGap(durationText(now - from)) : words.gap(durationText(to - from));
}

/** An amount stands in the answer as `0.4 USD`. */
function amountText(detail: string): string {
  const [amount = '', currency = ''] = detail.split(' ');
  return moneyText(amount, currency);
}

function toLineKey(line: Line): string {
  return line.kind === 'gap' ? `gap-${line.from}` : `${line.entry.step}-${line.entry.from}`;
}

/** A part of a lane of the bar. */
interface Span {
  readonly entry: TimelineEntry;
  readonly x: number;
  readonly width: number;
}

interface Bar {
  readonly from: number;
  readonly to: number;
  readonly lanes: readonly { readonly lane: Lane; readonly spans: readonly Span[] }[];
}

/** An entry of the list, or time between two that nothing explains. */
type Line =
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
function isLong({ from, to }: TimelineEntry, now: number): boolean {
  return (to ?? now) - from >= GAP_MS;
}

function readEnd({ to }: TimelineEntry, now: number): number {
  return to ?? now;
}
