import type { VNode } from 'preact';
import type { Resolution } from '../../../api/operator-attention.ts';
import { readTime } from '../../../parts/contract-values.ts';
import { clockText } from '../../../parts/time.tsx';
import { attentionWords } from '../attention-words.ts';
import { readDetail } from './act-list.tsx';
import type { Act } from './act-list.tsx';
import type { DecidedMoney, MadeDecision } from './attention-rows.ts';
import { outcomeText } from './consequence.ts';
import type { QueueEntry } from './queue.ts';

const words = attentionWords.attention;
const DECISION = 'attention_resolved';

export interface DecidedNoteProps {
  readonly row: QueueEntry['row'];
  readonly you: string;
  /** The visitor's decision on this page; undefined without one. */
  readonly made: MadeDecision | undefined;
  /** The acts of operators on it, the newest first; undefined until they are read. */
  readonly acts: readonly Act[] | undefined;
  /** Its money as it is booked now, or undefined if it is not known. */
  readonly money: DecidedMoney | undefined;
}

/** Says who decided over an entry that has left the queue, and what that did. */
export function DecidedNote(props: DecidedNoteProps): VNode {
  return (
    <p class="note">
      <span aria-hidden="true">✓</span> {describeDecision(props)}
    </p>
  );
}

export function describeDecision({ row: { id, since }, you, made, acts, money }: DecidedNoteProps): string {
  if (made !== undefined) return words.youDecided(id, ...facts(made.resolution, money ?? made.money, made.at));
  if (acts === undefined) return words.loadingDecision;
  // an entry that waits again has the decisions of before, too
  const act = acts.find(({ action, at }) => action === DECISION && (readTime(at) ?? 0) >= since);
  if (act === undefined) return words.leftByItself;
  const told = facts(readDetail(act)['resolution'] as Resolution, money, readTime(act.at) ?? 0);
  return act.actor === you
    ? words.youDecided(id, ...told)
    : `${words.otherDecided(act.actor, ...told)} ${words.why(act.reason)}`;
}

function facts(resolution: Resolution, money: DecidedMoney | undefined, at: number): [string, string, string] {
  return [words.as[resolution], outcomeText(resolution, money), clockText(at)];
}
