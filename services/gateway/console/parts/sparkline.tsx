import type { VNode } from 'preact';

const HEIGHT = 24;
const BAR = 3;
const GAP = 1;
/** A value above zero can be seen. */
const BAR_MIN = 1.5;

/** One bar for each value. The words beside it say the same, so screen readers pass it by. */
export function Sparkline({ values }: { values: readonly number[] }): VNode {
  const width = Math.max(1, values.length * (BAR + GAP) - GAP);
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${width} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      focusable="false"
    >
      <path class="base" d={`M0 ${HEIGHT}H${width}`} />
      <path class="bars" d={toBarPath(values)} />
    </svg>
  );
}

function toBarPath(values: readonly number[]): string {
  const highest = Math.max(0, ...values);
  return values
    .map((value, at) => {
      if (value <= 0) return '';
      const height = Math.max(BAR_MIN, Math.round((value / highest) * HEIGHT * 10) / 10);
      return `M${at * (BAR + GAP)} ${HEIGHT}v${-height}h${BAR}v${height}z`;
    })
    .join('');
}
