import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { BarPicture } from './bar-picture.tsx';
import type { PictureData } from './bar-picture.tsx';

export interface BarChartProps {
  readonly data: PictureData;
  readonly currency: string;
  /** The number of places that can be chosen. The picture may have more. */
  readonly count: number;
  readonly label: string;
  /** Explains the keys. */
  readonly help: string;
  readonly isJoined?: boolean;
  /** The place that is selected at first. Defaults to the last place. */
  readonly first?: number;
  /** The amounts of a place as a screen reader hears them. */
  readonly describe: (place: number) => string;
  /** The same as it stands below the picture. */
  readonly readOut: (place: number) => VNode;
}

/** A picture of amounts over time. A pointer or the arrow keys select a place. The amounts of the place stand below. */
export function BarChart(props: BarChartProps): VNode {
  const { data, currency, count, label, help, isJoined = false, first = count - 1, describe, readOut } = props;
  const [chosen, setChosen] = useState(first);
  const shown = Math.min(chosen, count - 1);
  const move = (event: KeyboardEvent): void => {
    const to = findPlaceByKey(event.key, shown, count);
    if (to === undefined) return;
    event.preventDefault();
    setChosen(to);
  };
  return (
    <>
      <div
        class="chart"
        role="slider"
        tabindex={0}
        aria-label={label}
        aria-description={help}
        aria-valuemin={1}
        aria-valuemax={count}
        aria-valuenow={shown + 1}
        aria-valuetext={describe(shown)}
        onKeyDown={move}
      >
        <BarPicture data={data} currency={currency} isJoined={isJoined} marked={shown} onPlace={setChosen} />
      </div>
      <p class="readout small" aria-hidden="true">
        {readOut(shown)}
      </p>
    </>
  );
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };
const LEAPS: Readonly<Record<string, number>> = { PageUp: 7, PageDown: -7 };

/** The place that a key selects, or undefined if the key selects no place. */
export function findPlaceByKey(key: string, place: number, count: number): number | undefined {
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  const step = STEPS[key] ?? LEAPS[key];
  return step === undefined ? undefined : Math.max(0, Math.min(count - 1, place + step));
}
