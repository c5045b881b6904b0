import type { Grade } from '../../../api/operator-now.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { operatorWords } from '../operator-words.ts';

/** A shape for each grade, so that none is known by its colour alone. */
const SHAPES: Readonly<Record<Grade, string>> = { ok: '●', warn: '▲', fail: '■' };

export function GradeBadge({
  grade,
  isRecovering = false,
}: {
  grade: Grade;
  isRecovering?: boolean | undefined;
}): VNode {
  const { grades, recovering } = operatorWords.now;
  return html`<span class=${`grade ${grade}`}
    ><span aria-hidden="true">${SHAPES[grade]}</span> ${isRecovering ? recovering : grades[grade]}</span
  >`;
}
