import type { VNode } from 'preact';
import { Facts } from '../../../parts/data-table.tsx';
import type { Fact } from '../../../parts/data-table.tsx';
import { Sparkline } from '../../../parts/sparkline.tsx';
import { Ago, spanText } from '../../../parts/time.tsx';
import { readTime } from '../../../parts/contract-values.ts';
import { serverNow } from '../../../state/api.ts';
import { countAttempts, sumLastHour, sumCounts } from './channel-hour.ts';
import type { ChannelHour } from './channel-hour.ts';
import type { Channel } from './channel-rows.ts';
import { workWords } from '../work-words.ts';
import { ChannelActs } from './channel-acts.tsx';
import type { ChannelCardProps } from './channel-acts.tsx';
import { channelWords } from '../channel-words.ts';

const words = workWords.channels;
const WIDTH = 100;
const HEIGHT = 4;

type ChannelStanding = keyof typeof words.standings;

const SHAPES: Readonly<Record<ChannelStanding, { readonly shape: string; readonly style: string }>> = {
  in_use: { shape: '●', style: 'ok' },
  being_tried: { shape: '◐', style: 'warn' },
  left_alone: { shape: '■', style: 'fail' },
  paused: { shape: '❚❚', style: 'warn' },
  disabled: { shape: '–', style: 'quiet' },
};
const BY_CIRCUIT: Readonly<Partial<Record<string, ChannelStanding>>> = {
  half_open: 'being_tried',
  open: 'left_alone',
};

/** Shows the facts of a channel, and the acts of an operator on it. */
export function ChannelCard(props: ChannelCardProps): VNode {
  const { row, isAlone = false } = props;
  const { channel, isRelay, hour } = row;
  const heading = `channel-${channel.id}`;
  return (
    <section class="card channel" aria-labelledby={heading}>
      <div class="channel-head">
        <h2 class="id" id={heading}>
          {isAlone ? channel.id : <a href={`/console/channels/${encodeURIComponent(channel.id)}`}>{channel.id}</a>}
        </h2>
        <StandingBadge channel={channel} />
      </div>
      <Why channel={channel} />
      {isRelay ? <p class="small quiet">{words.relay}</p> : null}
      <Facts
        facts={[
          [words.circuit, words.circuits[channel.circuit as keyof typeof words.circuits]],
          [words.inFlight, <InFlight channel={channel} />],
          ...listHourFacts(hour),
        ]}
      />
      <Settings channel={channel} />
      <ChannelActs {...props} />
    </section>
  );
}

/** The one word for whether a channel gets new work. */
export function readStanding({
  enabled,
  pause,
  circuit,
}: Pick<Channel, 'enabled' | 'pause' | 'circuit'>): ChannelStanding {
  if (!enabled) return 'disabled';
  return pause === undefined ? (BY_CIRCUIT[circuit] ?? 'in_use') : 'paused';
}

function StandingBadge({ channel }: { channel: Channel }): VNode {
  const standing = readStanding(channel);
  const { shape, style } = SHAPES[standing];
  return (
    <span class={`grade ${style}`}>
      <span aria-hidden="true">{shape}</span> {words.standings[standing]}
    </span>
  );
}

/** Shows why a channel gets no new work. */
function Why({ channel: { pause, enabled, circuit } }: { channel: Channel }): VNode {
  return (
    <>
      {enabled ? null : <p>{words.disabledWhy}</p>}
      {circuit in words.circuitWhy ? <p>{words.circuitWhy[circuit as keyof typeof words.circuitWhy]}</p> : null}
      {pause === undefined ? null : (
        <p class="note">
          {words.pausedBy} <strong>{pause.actor}</strong> <Ago at={readTime(pause.at)} />: {pause.reason}
          {pause.endsAt === undefined ? null : (
            <>
              <br />
              {channelWords.channel.returns} <Ago at={readTime(pause.endsAt)} />
            </>
          )}
        </p>
      )}
    </>
  );
}

function InFlight({ channel: { inFlight, inFlightLimit } }: { channel: Channel }): VNode {
  if (inFlightLimit <= 0) return <>{words.unlimited(inFlight)}</>;
  return (
    <>
      {words.inFlightOf(inFlight, inFlightLimit)}
      <progress max={inFlightLimit} value={Math.min(inFlight, inFlightLimit)} aria-label={words.inFlight} />
    </>
  );
}

function listHourFacts(hour: ChannelHour | undefined): readonly Fact[] {
  if (hour === undefined) return [[words.outcomes, <span class="quiet">{words.quietHour}</span>]];
  const { answerMsP50, answerMsP95 } = hour;
  const attempts = sumLastHour(hour.minutes, serverNow(), countAttempts);
  const times =
    answerMsP50 === 0 || answerMsP95 === 0
      ? words.noAnswers
      : words.answerTimes(spanText(answerMsP50), spanText(answerMsP95));
  const outcomes = listOutcomes(hour).map(({ name, text, shares }) => {
    const value = (
      <>
        {text}
        <OutcomeBar shares={shares} />
      </>
    );
    return [name, value] as const;
  });
  const perMinute = (
    <>
      <Sparkline values={attempts} />
      <span class="small quiet">{workWords.now.hour(words.attemptsCounted, attempts)}</span>
    </>
  );
  return [
    [words.answers, times],
    ...outcomes,
    ...(hour.minutes.length === 0 ? [] : [[words.perMinuteNow, perMinute] as const]),
    [words.lastError, <LastError hour={hour} />],
  ];
}

function LastError({ hour: { lastError, lastErrorAt } }: { hour: ChannelHour }): VNode {
  if (lastError === '') return <span class="quiet">{words.noError}</span>;
  return (
    <>
      {lastErrorAt === undefined ? null : (
        <>
          <Ago at={readTime(lastErrorAt)} />:{' '}
        </>
      )}
      <span class="error-text">{lastError}</span>
    </>
  );
}

function Settings({ channel }: { channel: Channel }): VNode {
  const settings = [
    [words.adapter, channel.adapter],
    [words.upstreamAccount, channel.upstreamAccount],
    [words.models, channel.models.join(', ')],
    [words.endpoints, channel.endpoints.join(', ')],
    [words.perMinute, channel.requestsPerMinute],
    [words.priority, channel.priority],
    [words.weight, channel.weight],
  ] as const;
  return (
    <details>
      <summary>{words.more}</summary>
      <Facts facts={settings.map(([name, value]) => [name, value || '–'])} />
    </details>
  );
}

type Kind = 'good' | 'bad' | 'busy';

interface Share {
  readonly kind: Kind;
  readonly name: string;
  readonly count: number;
}

interface Outcomes {
  readonly name: string;
  /** The same as the bar. */
  readonly text: string;
  readonly shares: readonly Share[];
}

/** The outcomes of an hour: of attempts, of ends, and of polls where some failed. */
function listOutcomes({ minutes }: ChannelHour): readonly Outcomes[] {
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
function OutcomeBar({ shares }: { shares: readonly Share[] }): VNode | null {
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
