import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { RpcAnswer } from '../../../api/calls.ts';
import { announce } from '../../../state/announce.ts';
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx';
import { operatorWords } from '../operator-words.ts';
import { workWords } from '../work-words.ts';
import { SelectField } from '../../../parts/select-field.tsx';
import { localText, spanText } from '../../../parts/time.tsx';
import { channelWords } from '../channel-words.ts';
import { ReasonField } from './reason-field.tsx';
import type { Channel, ChannelRow } from './channel-rows.ts';
import { api } from '../../../state/api.ts';
import { sendCall, toCall, useRpc } from '../../../state/calls.ts';
import { useSending } from '../../../state/use-act.ts';

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
export function ChannelActs({ row: { channel, isRelay }, canOperate, onlyFor, onChanged }: ChannelCardProps): VNode {
  const [isAsking, setAsking] = useState(false);
  const testing = useSending(() => testChannel(channel.id, isRelay), onChanged);
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
          onClick={() => testing.act()}
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

type ChannelTest = RpcAnswer<'tasks.OperatorService/TestChannel'>;

/** The tasks service tests its channels, and the gateway its own. */
function testChannel(id: string, isRelay: boolean): Promise<ChannelTest> {
  if (isRelay) return api(`/relay_channels/${encodeURIComponent(id)}/test`, { method: 'POST', body: {} });
  return sendCall(toCall('tasks.OperatorService/TestChannel', { id }));
}

function testResult(test: ChannelTest | undefined, fault: string | undefined): VNode | string {
  if (fault !== undefined) return <span class="fault">{fault}</span>;
  if (test === undefined) return '';
  const took = spanText(Number(test.tookMs));
  const text = test.ok ? words.tested(took) : words.testFailed(took);
  const detail = test.detail === '' ? '' : `: ${test.detail}`;
  return (
    <span class={test.ok ? 'good' : 'bad'}>
      <span aria-hidden="true">{test.ok ? '●' : '✕'}</span> {text}
      {detail}
    </span>
  );
}

interface PauseDialogProps extends Pick<ChannelCardProps, 'onlyFor' | 'onChanged'> {
  readonly channel: Channel;
  readonly onClose: () => void;
}

function PauseDialog({ channel, onlyFor, onClose, onChanged }: PauseDialogProps): VNode {
  const [reason, setReason] = useState('');
  const isPaused = channel.pause !== undefined;
  const [seconds, setSeconds] = useState<string>(HALF_HOUR);
  const onDone = (told: string): void => {
    announce(told);
    onChanged();
    onClose();
  };
  const pausing = useRpc('tasks.OperatorService/PauseChannel', ({ pause }) => {
    onDone(describePause(channel.id, pause?.endsAt));
  });
  const resuming = useRpc('tasks.OperatorService/ResumeChannel', () => {
    onDone(words.didResume(channel.id));
  });
  const { isBusy, fault } = isPaused ? resuming : pausing;
  const stops = !isPaused && channel.enabled && onlyFor.length > 0;
  return (
    <ConfirmDialog
      title={isPaused ? words.resumeTitle(channel.id) : words.pauseTitle(channel.id)}
      confirm={isPaused ? words.resume : words.pause}
      cancel={operatorWords.dialog.cancel}
      isBusy={isBusy}
      isDanger={!isPaused}
      onCancel={onClose}
      onConfirm={() => {
        const request = { id: channel.id, reason: reason.trim() };
        if (isPaused) resuming.act(request);
        // without a number it has no end
        else pausing.act({ ...request, forSeconds: Number(seconds) });
      }}
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
