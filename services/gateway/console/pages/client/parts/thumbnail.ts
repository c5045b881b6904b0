import type { TaskRow } from '../../../api/tasks.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';

const WIDTH = 96;
const HEIGHT = 54;

/** A picture of the video. The prompt beside it says what it shows. */
export function Thumbnail({ task: { thumbnail, state } }: { task: TaskRow }): VNode {
  return thumbnail === undefined
    ? html`<span class=${`thumbnail none ${state}`} aria-hidden="true"></span>`
    : html`<img class="thumbnail" src=${thumbnail} alt="" width=${WIDTH} height=${HEIGHT} loading="lazy" />`;
}
