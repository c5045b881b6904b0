import type { TaskView } from '../../../api/task.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { CodeBlock } from '../../../parts/copy-button.ts';
import { At, relativeText } from '../../../parts/time.ts';
import { taskWords } from '../task-words.ts';
import { bytesText } from '../../../parts/number-text.ts';

const words = taskWords.video;

/** Shows the result of the task: the video, or the enhanced prompt; else why there is none. */
export function TaskResult({ view }: { view: TaskView }): VNode | null {
  const { task, video, text, now } = view;
  if (text !== undefined)
    return html`<section>
      <h2>${taskWords.text}</h2>
      <${CodeBlock} text=${text} what=${taskWords.text} />
    </section>`;
  if (video !== undefined) return html`<${Player} task=${task} video=${video} now=${now} />`;
  if (task.kind === 'context_ir' || task.state === 'failed') return null;
  return html`<p class="quiet placeholder">${task.state === 'completed' ? words.gone : words.waiting}</p>`;
}

interface PlayerProps {
  readonly task: TaskView['task'];
  readonly video: NonNullable<TaskView['video']>;
  readonly now: number;
}

function Player({ task, video, now }: PlayerProps): VNode {
  const { src, thumbnail, download, bytes, mediaType, width, height, durationMs, frameRate } = video;
  const facts: readonly (readonly [string, unknown])[] = [
    [words.size, words.pixels(width, height)],
    [words.length, taskWords.request.seconds(Math.round(durationMs / 100) / 10)],
    [words.rate, words.perSecond(String(Math.round(frameRate * 100) / 100))],
    [words.file, `${bytesText(bytes)}, ${mediaType}`],
    ...(task.expiresAt === undefined
      ? []
      : [[words.kept, html`<${At} at=${task.expiresAt} /> (${relativeText(task.expiresAt, now)})`] as const]),
  ];
  return html`<section class="result">
    <h2 class="spoken">${words.title}</h2>
    <video
      controls
      playsinline
      preload="metadata"
      src=${src}
      poster=${thumbnail}
      width=${width}
      height=${height}
      aria-label=${words.player}
    ></video>
    <div class="result-facts">
      <dl class="facts">
        ${facts.map(
          ([name, value]) =>
            html`<dt key=${name}>${name}</dt>
              <dd>${value}</dd>`,
        )}
      </dl>
      <p><a class="button main" href=${download} download=${`${task.id}.mp4`}>${words.download}</a></p>
    </div>
  </section>`;
}
