import type { VNode } from 'preact';
import type { ChannelHour } from '../../../api/operator-channels.ts';
import { workWords } from '../work-words.ts';
import { sumCounts } from './channel-hour.ts';

const words = workWords.channels;
const WIDTH = 100;
const HEIGHT = 4;

type Kind = 'good' | 'bad' | 'busy';

export interface Share {
  readonly kind: Kind;
  readonly name: string;
  readonly count: number;
}

export interface Outcomes {
  readonly name: string;
  /** The same as the bar. */
  readonly text: string;
  readonly shares: readonly Share[];
}

/** The outcomes of an hour: of attempts, of ends, and of polls where some failed. */
export function listOutcomes({ minutes }: ChannelHour): readonly Outcomes[] {
  const hour = sumCounts(minutes);
  const attempts = dropZeros([
    { kind: 'good', name: words.accepted, count: hour.accepted },
    { kind: 'bad', name: words.refused, count: hour.refused },
    { kind: 'busy', name: words.unknown, count: hour.unknown },
  ]);
  const ends = dropZeros([
    { kind: 'good', name: words.completed, count: hour.completed },
    { kind: 'bad', name: words.failed, count: hour.failed },
  ]);
  const polls = hour.failedPolls === 0 ? '' : `; ${hour.failedPolls} ${words.failedPolls}`;
  return [
    { name: words.attempts, text: describeShares(attempts), shares: attempts },
    { name: words.ends, text: `${describeShares(ends)}${polls}`, shares: ends },
  ];
}

function dropZeros(shares: readonly Share[]): readonly Share[] {
  return shares.filter(({ count }) => count > 0);
}

function describeShares(shares: readonly Share[]): string {
  return shares.length === 0 ? '–' : shares.map(({ name, count }) => `${count} ${name}`).join(', ');
}

/** The shares as a bar; the words beside it say the same. */
export function OutcomeBar({ shares }: { shares: readonly Share[] }): VNode | null {
  const total = shares.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return null;
  let x = 0;
  return (
    <svg
      class="outcomes"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      focusable="false"
    >
      {shares.map(({ kind, name, count }) => {
        const width = (count / total) * WIDTH;
        x += width;
        return (
          <rect key={name} class={kind} x={(x - width).toFixed(2)} y="0" width={width.toFixed(2)} height={HEIGHT} />
        );
      })}
    </svg>
  );
}
