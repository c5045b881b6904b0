import type { VNode } from 'preact';
import type { TaskView } from '../../../api/task.ts';
import { CodeBlock } from '../../../parts/copy-button.tsx';
import type { Fact } from '../../../parts/data-table.tsx';
import { At, relativeText } from '../../../parts/time.tsx';
import { taskWords } from '../task-words.ts';
import { bytesText, formatMoney, parseNanos } from '../../../parts/number-text.tsx';
import type { TaskMoney } from '../../../api/money.ts';
import type { TaskFailure } from '../../../api/tasks.ts';
import { plainMessage } from '../../../state/api.ts';

const words = taskWords.video;
/** The aspect ratio if the order leaves it to the model. */
const WIDE = { width: 16, height: 9 };

/**
 * Shows the result of the task: the video, or the enhanced prompt; else what happens, or why there is none. The place
 * has the form of the video from the first moment on, because the order says it.
 */
export function TaskResult({ view }: { view: TaskView }): VNode {
  const { task, video, text } = view;
  if (text !== undefined) return <CodeBlock text={text} what={taskWords.text} />;
  if (task.failure !== undefined) return <FailureNote failure={task.failure} money={view.money} />;
  if (task.kind === 'context_ir') return <p class="quiet placeholder">{words.waiting}</p>;
  const { width, height } = video ?? readRatio(task.ratio);
  return (
    <>
      <svg class="screen-size" viewBox={`0 0 ${width} ${height}`} aria-hidden="true" />{' '}
      {video === undefined ? (
        <p class="screen-fill quiet">{task.state === 'completed' ? words.gone : words.waiting}</p>
      ) : (
        <video
          class="screen-fill"
          controls
          playsinline
          preload="metadata"
          src={video.src}
          poster={video.thumbnail}
          aria-label={words.player}
        />
      )}
    </>
  );
}

/** The form that an order asks for, such as `16:9`. */
export function readRatio(ratio: string): { readonly width: number; readonly height: number } {
  const [width = 0, height = 0] = ratio.split(':').map(Number);
  return width > 0 && height > 0 ? { width, height } : WIDE;
}

/** The facts of the file of a video. */
export function listVideoFacts({ task, video, now }: TaskView): readonly Fact[] {
  if (video === undefined) return [];
  const { bytes, mediaType, width, height, durationMs, frameRate } = video;
  return [
    [words.size, words.pixels(width, height)],
    [words.length, taskWords.request.seconds(Math.round(durationMs / 100) / 10)],
    [words.rate, words.perSecond(String(Math.round(frameRate * 100) / 100))],
    [words.file, `${bytesText(bytes)}, ${mediaType}`],
    ...(task.expiresAt === undefined
      ? []
      : [
          [
            words.kept,
            <>
              <At at={task.expiresAt} /> ({relativeText(task.expiresAt, now)})
            </>,
          ] as const,
        ]),
  ];
}

interface FailureNoteProps {
  readonly failure: TaskFailure;
  /** Undefined if the task has no money or it cannot be read. */
  readonly money: TaskMoney | undefined;
}

/** Explains a failure: the event, the party at fault, the cost, and a possible change. */
function FailureNote({ failure, money }: FailureNoteProps): VNode {
  const { cause, code } = failure;
  const cost = describeCost(money);
  return (
    <section class="failure-note">
      <h2>{taskWords.failure.title}</h2>
      <p class="failure-message">{plainMessage(failure)}</p>
      {cause === undefined ? null : <p>{taskWords.failure.cause[cause]}</p>}
      {cost === undefined ? null : <p>{cost}</p>}
      <p>{taskWords.failure.advice[cause ?? 'unknown']}</p>
      <p class="small quiet">{taskWords.failure.code(code)}</p>
    </section>
  );
}

/** Returns undefined unless the money shows that the task is free. */
function describeCost(money: TaskMoney | undefined): string | undefined {
  if (money === undefined || money.basis === 'deferred') return undefined;
  if (money.charged === undefined) return taskWords.failure.returning(formatMoney(money.held));
  return parseNanos(money.charged.amount) === 0n ? taskWords.failure.free : undefined;
}
