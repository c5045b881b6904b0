import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ChannelRow, ChannelTest, PauseAnswer } from '../../../api/operator-channels.ts';
import { announce } from '../../../state/announce.ts';
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx';
import { operatorWords } from '../operator-words.ts';
import { workWords } from '../work-words.ts';
import { SelectField } from '../../../parts/select-field.tsx';
import { localText, spanText } from '../../../parts/time.tsx';
import { channelWords } from '../channel-words.ts';
import { ReasonField } from './text-field.tsx';
import { useAct } from '../../../state/use-act.ts';

const words = workWords.channels;
/** A channel that somebody forgets comes back. */
const HALF_HOUR = '1800';

export interface ChannelCardProps {
  readonly row: ChannelRow;
  readonly canOperate: boolean;
  /** The models that no other channel in use serves. */
  readonly onlyFor: readonly string[];
  readonly onChanged: () => void;
  /** True on the page of the channel, which needs no link to itself. */
  readonly isAlone?: boolean;
}

/** Test, pause and resume. The last two have a second step, which asks for a reason. */
export function ChannelActs({ row: { channel }, canOperate, onlyFor, onChanged }: ChannelCardProps): VNode {
  const [isAsking, setAsking] = useState(false);
  const testing = useAct<ChannelTest>(onChanged);
  const isPaused = channel.pause !== undefined;
  const because = canOperate ? undefined : 'may-not-operate';
  return (
    <>
      <div class="actions">
        <button
          type="button"
          disabled={!canOperate || testing.isBusy}
          aria-describedby={because}
          title={words.testHint}
          onClick={() => testing.act(`/channels/${encodeURIComponent(channel.id)}/test`)}
        >
          {testing.isBusy ? words.testing : words.test}
          <span class="spoken"> {channel.id}</span>
        </button>
        <button type="button" disabled={!canOperate} aria-describedby={because} onClick={() => setAsking(true)}>
          {isPaused ? words.resume : words.pause}
          <span class="spoken"> {channel.id}</span>
        </button>
      </div>
      <p role="status" class="test-result">
        {testResult(testing.answer, testing.fault?.message)}
      </p>
      {isAsking ? (
        <PauseDialog channel={channel} onlyFor={onlyFor} onClose={() => setAsking(false)} onChanged={onChanged} />
      ) : null}
    </>
  );
}

function testResult(test: ChannelTest | undefined, fault: string | undefined): VNode | string {
  if (fault !== undefined) return <span class="fault">{fault}</span>;
  if (test === undefined) return '';
  const text = test.ok ? words.tested(spanText(test.tookMs)) : words.testFailed(spanText(test.tookMs));
  const detail = test.detail === '' ? '' : `: ${test.detail}`;
  return (
    <span class={test.ok ? 'good' : 'bad'}>
      <span aria-hidden="true">{test.ok ? '●' : '✕'}</span> {text}
      {detail}
    </span>
  );
}

interface PauseDialogProps extends Pick<ChannelCardProps, 'onlyFor' | 'onChanged'> {
  readonly channel: ChannelRow['channel'];
  readonly onClose: () => void;
}

function PauseDialog({ channel, onlyFor, onClose, onChanged }: PauseDialogProps): VNode {
  const [reason, setReason] = useState('');
  const isPaused = channel.pause !== undefined;
  const [seconds, setSeconds] = useState<string>(HALF_HOUR);
  const { act, isBusy, fault } = useAct<PauseAnswer>(({ pause }) => {
    announce(isPaused ? words.didResume(channel.id) : describePause(channel.id, pause?.endsAt));
    onChanged();
    onClose();
  });
  const stops = !isPaused && channel.enabled && onlyFor.length > 0;
  return (
    <ConfirmDialog
      title={isPaused ? words.resumeTitle(channel.id) : words.pauseTitle(channel.id)}
      confirm={isPaused ? words.resume : words.pause}
      cancel={operatorWords.dialog.cancel}
      isBusy={isBusy}
      isDanger={!isPaused}
      onCancel={onClose}
      onConfirm={() =>
        act(`/channels/${encodeURIComponent(channel.id)}/${isPaused ? 'resume' : 'pause'}`, {
          reason: reason.trim(),
          ...(isPaused || seconds === '' ? {} : { forSeconds: Number(seconds) }),
        })
      }
    >
      <p>{isPaused ? words.resumeText : words.pauseText(channel.inFlight)}</p>
      {stops ? <p class="note">{words.pauseOnly(onlyFor.join(', '))}</p> : null}
      {isPaused ? null : (
        <SelectField
          label={channelWords.channel.forHowLong}
          options={channelWords.channel.durations}
          value={seconds}
          onChange={setSeconds}
        />
      )}
      <ReasonField value={reason} onInput={setReason} fault={fault?.message} />
    </ConfirmDialog>
  );
}

/** The answer says when it ends: a channel that was paused already keeps its first pause. */
function describePause(id: string, endsAt: string | undefined): string {
  return endsAt === undefined
    ? words.didPause(id)
    : channelWords.channel.didPauseFor(id, localText(Date.parse(endsAt)));
}
