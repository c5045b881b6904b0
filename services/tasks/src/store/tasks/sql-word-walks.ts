import type { Sql } from '@reelgate/platform/sql/sql';
import type { WantedWords } from '../../domain/prompt-words.ts';
import { searchable, text } from '../columns.ts';
import { buildRange, newValues } from './task-rows.ts';
import type { Bind, Direction, IdRange } from './task-rows.ts';

/** The most words of an account that a beginning stands for, the first ones of the alphabet. */
const CONTINUATIONS_MAX = 16;
/** The sizes of the statements over words. */
const SIZES = [1, 4, CONTINUATIONS_MAX] as const;

/** The tasks that a walk can reach, in its order. */
interface WalkRange {
  readonly range: IdRange;
  readonly order: Direction;
}

interface WalkContext extends WalkRange {
  readonly sql: Sql;
  /** The most tasks of a word that one answer examines. */
  readonly examinedMax: number;
  readonly accountId: string;
}

/** The tasks that one answer to a search examines: the tasks of one word, or of the words with one beginning. */
export interface WordWalk {
  readonly accountId: string;
  readonly words: readonly string[];
  /** The last one, if more follow it. */
  readonly last: string | undefined;
}

/**
 * Chooses the word along which a search goes. A word with all its tasks examined is the best one, and of the others the
 * rarest one, because its tasks reach farthest. Returns undefined if no task has all words.
 */
export async function findWordWalk(on: WalkContext, { whole, beginning }: WantedWords): Promise<WordWalk | undefined> {
  if (whole.length > 0) {
    const walks = await Promise.all(whole.map((word) => findWalkAlong(on, [word])));
    return walks.reduce((best, walk) => (reachesFarther(on, walk, best) ? walk : best));
  }
  if (beginning === undefined) return undefined;
  const words = await listContinuations(on, beginning);
  return words.length === 0 ? undefined : findWalkAlong(on, words);
}

function reachesFarther({ order }: WalkContext, { last: own }: WordWalk, { last: other }: WordWalk): boolean {
  if (own === undefined || other === undefined) return other !== undefined;
  return order === 'ASC' ? own > other : own < other;
}

/** The tasks of several words are examined as far as the first of their lists that is cut off. */
async function findWalkAlong(on: WalkContext, words: readonly string[]): Promise<WordWalk> {
  const examinedMax = Math.max(1, Math.floor(on.examinedMax / Math.min(words.length, SIZES[1])));
  const cuts = await Promise.all(words.map((word) => findCut({ ...on, examinedMax }, word)));
  const known = cuts.filter((cut) => cut !== undefined).toSorted();
  return { accountId: on.accountId, words, last: on.order === 'ASC' ? known[0] : known.at(-1) };
}

/** The last task of a word that is examined, if more follow. */
async function findCut(
  { sql, examinedMax, accountId, range, order }: WalkContext,
  word: string,
): Promise<string | undefined> {
  const { values, bind } = newValues(searchable(accountId), word);
  const [last, next] = await sql.read(
    `SELECT task_id FROM prompt_words WHERE account_id = $1 AND word = $2${buildRange(range, bind, 'task_id')}
     ORDER BY task_id ${order} LIMIT 2 OFFSET ${bind(examinedMax - 1)}`,
    values,
  );
  return next === undefined ? undefined : text(last?.['task_id']);
}

/** The words of an account that begin so. Each is one step in the index, however many tasks have it. */
async function listContinuations({ sql, accountId }: WalkContext, beginning: string): Promise<readonly string[]> {
  const rows = await sql.read(
    `WITH RECURSIVE found (word) AS (
       SELECT MIN(word) FROM prompt_words WHERE account_id = $1 AND word >= $2 AND word < $3
       UNION ALL
       SELECT (SELECT MIN(word) FROM prompt_words WHERE account_id = $1 AND word > found.word AND word < $3)
       FROM found WHERE found.word IS NOT NULL
     ) SELECT word FROM found WHERE word IS NOT NULL LIMIT $4`,
    [searchable(accountId), beginning, toFirstBeyond(beginning), CONTINUATIONS_MAX],
  );
  return rows.map((row) => text(row['word'])).filter((word) => word.startsWith(beginning));
}

/** The first text that sorts after each one with this beginning. */
function toFirstBeyond(beginning: string): string {
  const letters = [...beginning];
  const last = letters.pop()?.codePointAt(0) ?? 0;
  return `${letters.join('')}${String.fromCodePoint(last + 1)}`;
}

/** The condition for the tasks of a walk. They are found apart from all else, so that no plan goes along other tasks. */
export function buildWordWalk(
  { accountId, words, last }: WordWalk,
  { range, order }: WalkRange,
  bind: Bind,
): { readonly before: string; readonly among: string } {
  const size = SIZES.find((one) => one >= words.length) ?? CONTINUATIONS_MAX;
  const account = bind(searchable(accountId));
  const among = Array.from({ length: size }, (_word, at) => bind(words[at] ?? words.at(-1) ?? '')).join(', ');
  const near = order === 'ASC' ? { above: range.above } : { below: range.below };
  const within = buildRange(last === undefined ? range : near, bind, 'task_id');
  const end = last === undefined ? '' : ` AND task_id ${order === 'ASC' ? '<=' : '>='} ${bind(last)}`;
  return {
    before: `WITH examined AS MATERIALIZED (
      SELECT task_id FROM prompt_words WHERE account_id = ${account} AND word IN (${among})${within}${end}
    )`,
    among: 'id IN (SELECT task_id FROM examined)',
  };
}
