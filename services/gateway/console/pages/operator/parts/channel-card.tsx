import { Fragment } from 'preact';
import type { VNode } from 'preact';
import type { ChannelHour, ChannelRow } from '../../../api/operator-channels.ts';
import { Sparkline } from '../../../parts/sparkline.tsx';
import { Ago, spanText } from '../../../parts/time.tsx';
import { hourText } from './hour-text.ts';
import { workWords } from '../work-words.ts';
import { ChannelActs } from './channel-acts.tsx';
import type { ChannelCardProps } from './channel-acts.tsx';
import { channelWords } from '../channel-words.ts';
import { OutcomeBar, listOutcomes } from './outcome-bar.tsx';

const words = workWords.channels;

type ChannelStanding = keyof typeof words.standings;

const SHAPES: Readonly<Record<ChannelStanding, { readonly shape: string; readonly style: string }>> = {
  in_use: { shape: '●', style: 'ok' },
  being_tried: { shape: '◐', style: 'warn' },
  left_alone: { shape: '■', style: 'fail' },
  paused: { shape: '❚❚', style: 'warn' },
  disabled: { shape: '–', style: 'quiet' },
};
const BY_CIRCUIT: Readonly<Record<ChannelRow['circuit'], ChannelStanding>> = {
  closed: 'in_use',
  half_open: 'being_tried',
  open: 'left_alone',
};

/** Shows the facts of a channel, and the acts of an operator on it. */
export function ChannelCard(props: ChannelCardProps): VNode {
  const { channel, isAlone = false } = props;
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
      {channel.isRelay ? <p class="small quiet">{words.relay}</p> : null}
      <dl class="facts">
        <dt>{words.circuit}</dt>
        <dd>{words.circuits[channel.circuit]}</dd>
        <dt>{words.inFlight}</dt>
        <dd>
          <InFlight channel={channel} />
        </dd>
        <Hour hour={channel.hour} />
      </dl>
      <Settings channel={channel} />
      <ChannelActs {...props} />
    </section>
  );
}

/** The one word for whether a channel gets new work. */
export function readStanding({
  isEnabled,
  pause,
  circuit,
}: Pick<ChannelRow, 'isEnabled' | 'pause' | 'circuit'>): ChannelStanding {
  if (!isEnabled) return 'disabled';
  return pause === undefined ? BY_CIRCUIT[circuit] : 'paused';
}

function StandingBadge({ channel }: { channel: ChannelRow }): VNode {
  const standing = readStanding(channel);
  const { shape, style } = SHAPES[standing];
  return (
    <span class={`grade ${style}`}>
      <span aria-hidden="true">{shape}</span> {words.standings[standing]}
    </span>
  );
}

/** Shows why a channel gets no new work. */
function Why({ channel: { pause, isEnabled, circuit } }: { channel: ChannelRow }): VNode {
  return (
    <>
      {isEnabled ? null : <p>{words.disabledWhy}</p>}
      {circuit === 'closed' ? null : <p>{words.circuitWhy[circuit]}</p>}
      {pause === undefined ? null : (
        <p class="note">
          {words.pausedBy} <strong>{pause.actor}</strong> <Ago at={pause.at} />: {pause.reason}
          {pause.endsAt === undefined ? null : (
            <>
              <br />
              {channelWords.channel.returns} <Ago at={pause.endsAt} />
            </>
          )}
        </p>
      )}
    </>
  );
}

function InFlight({ channel: { inFlight, inFlightMax } }: { channel: ChannelRow }): VNode {
  if (inFlightMax <= 0) return <>{words.unlimited(inFlight)}</>;
  return (
    <>
      {words.inFlightOf(inFlight, inFlightMax)}
      <progress max={inFlightMax} value={Math.min(inFlight, inFlightMax)} aria-label={words.inFlight} />
    </>
  );
}

function Hour({ hour }: { hour: ChannelHour | undefined }): VNode {
  if (hour === undefined)
    return (
      <>
        <dt>{words.outcomes}</dt>
        <dd class="quiet">{words.quietHour}</dd>
      </>
    );
  const { answerMsP50, answerMsP95 } = hour;
  const times =
    answerMsP50 === undefined || answerMsP95 === undefined
      ? words.noAnswers
      : words.answerTimes(spanText(answerMsP50), spanText(answerMsP95));
  return (
    <>
      <dt>{words.answers}</dt>
      <dd>{times}</dd>
      {listOutcomes(hour).map(({ name, text, shares }) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>
            {text}
            <OutcomeBar shares={shares} />
          </dd>
        </Fragment>
      ))}
      {hour.minutes.length === 0 ? null : (
        <>
          <dt>{words.perMinuteNow}</dt>
          <dd>
            <Sparkline values={hour.minutes} />
            <span class="small quiet">{hourText(words.attemptsCounted, hour.minutes)}</span>
          </dd>
        </>
      )}
      <dt>{words.lastError}</dt>
      <dd>
        <LastError hour={hour} />
      </dd>
    </>
  );
}

function LastError({ hour: { lastError, lastErrorAt } }: { hour: ChannelHour }): VNode {
  if (lastError === undefined || lastError === '') return <span class="quiet">{words.noError}</span>;
  return (
    <>
      {lastErrorAt === undefined ? null : (
        <>
          <Ago at={lastErrorAt} />:{' '}
        </>
      )}
      <span class="error-text">{lastError}</span>
    </>
  );
}

function Settings({ channel }: { channel: ChannelRow }): VNode {
  const facts: readonly (readonly [string, string | number])[] = [
    [words.adapter, channel.adapter],
    [words.upstreamAccount, channel.upstreamAccount],
    [words.models, channel.models.join(', ')],
    [words.endpoints, channel.endpoints.join(', ')],
    [words.perMinute, channel.perMinuteMax],
    [words.priority, channel.priority],
    [words.weight, channel.weight],
  ];
  return (
    <details>
      <summary>{words.more}</summary>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value === '' || value === 0 ? '–' : value}</dd>
          </Fragment>
        ))}
      </dl>
    </details>
  );
}
