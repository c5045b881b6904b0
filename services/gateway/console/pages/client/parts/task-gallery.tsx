import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { TaskRow } from '../../../api/tasks.ts';
import { plainMessage } from '../../../state/api.ts';
import { StateBadge } from '../../../parts/state-badge.tsx';
import { Ago } from '../../../parts/time.tsx';
import { tasksWords as words } from '../client-words.ts';
import { Thumbnail, chargeText, taskTitle } from './task-table.tsx';

const PREVIEW_SECONDS = 3;
/** A pointer that only passes by does not load the video. */
const REST_MS = 150;

export interface TaskGalleryProps {
  readonly tasks: readonly TaskRow[];
  /** The eight latest ones, in two rows. */
  readonly isLatest?: boolean;
}

/** Tasks by their pictures. A picture plays while the pointer or the focus is on it. */
export function TaskGallery({ tasks, isLatest = false }: TaskGalleryProps): VNode {
  return (
    <ul class={isLatest ? 'gallery latest' : 'gallery'}>
      {tasks.map((task) => (
        <li key={task.id}>
          <Tile task={task} />
        </li>
      ))}
    </ul>
  );
}

function Tile({ task }: { task: TaskRow }): VNode {
  const { id, state, failure, model, seconds, resolution, createdAt, charge } = task;
  const [isPlaying, setPlaying] = useState(false);
  const wait = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const stop = (): void => {
    clearTimeout(wait.current);
    setPlaying(false);
  };
  const start = (): void => {
    if (task.thumbnail === undefined || wantsStillness()) return;
    clearTimeout(wait.current);
    wait.current = setTimeout(() => setPlaying(true), REST_MS);
  };
  useEffect(() => stop, []);
  const facts = [seconds > 0 ? words.seconds(seconds) : '', resolution].filter((fact) => fact !== '');
  return (
    <a
      href={`/console/tasks/${encodeURIComponent(id)}`}
      onPointerEnter={({ pointerType }) => {
        if (pointerType === 'mouse') start();
      }}
      onPointerLeave={stop}
      onFocus={start}
      onBlur={stop}
    >
      <span class="screen">
        <Thumbnail task={task} />
        {isPlaying ? <Preview id={id} onEnd={stop} /> : null}
        {state === 'completed' ? null : (
          <span class="on-screen">
            <StateBadge state={state} />
          </span>
        )}
      </span>
      <span class="tile-title">{taskTitle(task)}</span>
      <span class="small quiet"> {failure === undefined ? [model, ...facts].join(' · ') : plainMessage(failure)} </span>
      <span class="small quiet tile-end">
        <span>{chargeText(charge)}</span>
        <Ago at={createdAt} />
      </span>
    </a>
  );
}

/** The first seconds of a video, without sound, once. */
function Preview({ id, onEnd }: { id: string; onEnd: () => void }): VNode {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    const { current: shown } = video;
    if (shown === null) return undefined;
    // a page that is drawn by Preact sets the attribute alone, which does not silence
    shown.muted = true;
    shown.play().catch(onEnd);
    return () => {
      // ends the download
      shown.removeAttribute('src');
      shown.load();
    };
  }, []);
  return (
    <video
      class="preview"
      ref={video}
      src={`/console/api/v1/videos/${encodeURIComponent(id)}/content`}
      muted
      playsinline
      preload="auto"
      tabindex={-1}
      aria-hidden="true"
      onTimeUpdate={({ currentTarget }) => {
        if (currentTarget.currentTime >= PREVIEW_SECONDS) onEnd();
      }}
      onEnded={onEnd}
    />
  );
}

function wantsStillness(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}
