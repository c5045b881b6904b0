import type { VNode } from 'preact';
import type { AnswerMinute } from './channel-hour.ts';
import { spanText } from '../../../parts/time.tsx';

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
const STEP = 10;
const HEIGHT = 120;
const DOT = 2.5;

/** The times of answers in the last hour as dots with a line between both of a minute. The table below says the same. */
export function LatencyChart({ answers, now }: { answers: readonly AnswerMinute[]; now: number }): VNode {
  const highest = Math.max(1, ...answers.map(({ p95 }) => p95));
  const last = Math.floor(now / MINUTE_MS);
  const toX = (at: number): number => (HOUR_MINUTES - 1 - (last - Math.floor(at / MINUTE_MS)) + 0.5) * STEP;
  const toY = (ms: number): number => Math.round((HEIGHT - DOT - (ms / highest) * (HEIGHT - 2 * DOT)) * 10) / 10;
  return (
    <div class="latency">
      <span class="small quiet" aria-hidden="true">
        {spanText(highest)}
      </span>
      <svg
        viewBox={`0 0 ${HOUR_MINUTES * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        focusable="false"
      >
        <path class="base" d={`M0 ${HEIGHT}H${HOUR_MINUTES * STEP}`} />
        {answers.map(({ at, p50, p95 }) => (
          <g key={at}>
            <path class="range" d={`M${toX(at)} ${toY(p50)}V${toY(p95)}`} />
            <path class="half" d={`M${toX(at) - DOT} ${toY(p50)}h${2 * DOT}`} />
            <path class="most" d={`M${toX(at) - DOT} ${toY(p95)}h${2 * DOT}`} />
          </g>
        ))}
      </svg>
    </div>
  );
}
