import { byRows, inChunks, parameters, rowValues } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlWork } from '@reelgate/platform/sql/sql';
import { inJson, inText, insertMany, optionalNumber, readChunks, recordColumns, text } from '../columns.ts';
import type { TaskIdentity } from '../../domain/task.ts';
import type { PromptStore, PromptWords, UnreadPrompt } from '../prompt-store.ts';

const PROMPT = recordColumns<UnreadPrompt>({
  id: inText('id'),
  accountId: inText('account_id'),
  order: inJson('order_json'),
});
/** Between words. No word has one. */
const BAR = '|';
const WORDS = recordColumns<PromptWords>({
  id: inText('task_id'),
  accountId: inText('account_id'),
  words: {
    columns: ['words'],
    read: (row) => text(row['words']).split(BAR).filter(Boolean),
    write: (words) => ({ words: `${BAR}${words.join(BAR)}${BAR}` }),
  },
});
const UNREAD = byRows(
  (rows) => `SELECT ${PROMPT.list} FROM tasks WHERE id IN (${parameters(rows)})
    AND NOT EXISTS (SELECT 1 FROM read_prompts WHERE read_prompts.task_id = tasks.id)`,
);
const MOVE = `UPDATE prompt_reading SET ended_seq = $1, seen_id = $2
  WHERE id = 1 AND ended_seq = $3 AND seen_id = $4`;
const READ_WORDS = byRows((rows) => `SELECT task_id, words FROM read_prompts WHERE task_id IN (${parameters(rows)})`);
const INSERT_READ = insertMany('read_prompts', WORDS.names, 'ON CONFLICT DO NOTHING');
const INSERT_WORDS = insertMany('prompt_words', ['account_id', 'word', 'task_id'], 'ON CONFLICT DO NOTHING');
const REMOVE_WORDS = byRows((rows) => {
  const among = Array.from({ length: rows }, (_row, row) => `($${3 * row + 1}, $${3 * row + 2}, $${3 * row + 3})`);
  return `DELETE FROM prompt_words WHERE (account_id, word, task_id) IN (VALUES ${among.join(', ')})`;
});
const REMOVE_READ = byRows((rows) => `DELETE FROM read_prompts WHERE task_id IN (${parameters(rows)})`);

type WordRow = Readonly<Record<'account_id' | 'word' | 'task_id', string>>;

/** The words of prompts, for the search of tasks. */
export function sqlPrompts(sql: Sql): PromptStore {
  return {
    getPromptReading: async () => {
      const [row] = await sql.read('SELECT ended_seq, seen_id FROM prompt_reading WHERE id = 1');
      return { endedSeq: Number(row?.['ended_seq'] ?? 0), seenId: text(row?.['seen_id']) };
    },
    listEndsAfter: async (afterSeq, limit) => {
      const rows = await sql.read(
        'SELECT seq, type, subject_id, created_at FROM events WHERE seq IS NOT NULL AND seq > $1 ORDER BY seq LIMIT $2',
        [afterSeq, limit],
      );
      return {
        taskIds: rows.filter(({ type }) => text(type).startsWith('video.')).map((row) => text(row['subject_id'])),
        lastSeq: optionalNumber(rows.at(-1)?.['seq']),
        firstAt: optionalNumber(rows[0]?.['created_at']),
      };
    },
    listNewPrompts: ({ after, before, limit }) =>
      PROMPT.selectFrom(sql.read, 'tasks WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3', [after, before, limit]),
    listUnreadPrompts: async (taskIds) => (await readChunks(sql.read, UNREAD, taskIds)).map(PROMPT.read),
    keepPromptWords: (from, to, prompts) =>
      sql.commitUnsynced(async (query) => {
        const moved = await query.changes(MOVE, [to.endedSeq, to.seenId, from.endedSeq, from.seenId]);
        if (moved === 0) return false;
        await insertPrompts(query, prompts);
        return true;
      }),
    listLeftWords: (before, limit) =>
      WORDS.selectFrom(
        sql.read,
        `read_prompts WHERE task_id < $1
           AND NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.id = read_prompts.task_id) ORDER BY task_id LIMIT $2`,
        [before, limit],
      ),
    removeWords: async (prompts) => {
      await sql.commitUnsynced(async (query) => {
        await removeWordRows(query, prompts.flatMap(toWordRows));
        for (const ids of inChunks(prompts.map(({ id }) => id))) await query(REMOVE_READ(ids.length), ids);
      });
    },
  };
}

/** In the order of the index, so that neighbours are written together and no two processes wait for each other. */
async function insertPrompts(query: SqlWork, prompts: readonly PromptWords[]): Promise<void> {
  let inserted = 0;
  for (const chunk of inChunks(prompts.map(WORDS.write))) inserted += await query.changes(...INSERT_READ(chunk));
  const kept = inserted === prompts.length ? prompts : await dropForgotten(query, prompts);
  for (const chunk of inChunks(kept.flatMap(toWordRows).toSorted(compareRows)))
    await query.changes(...INSERT_WORDS(chunk));
}

/** Leaves out the tasks that were removed after their prompts were read. */
async function dropForgotten(query: SqlWork, prompts: readonly PromptWords[]): Promise<readonly PromptWords[]> {
  const ids = prompts.map(({ id }) => id);
  const forgotten = (await readChunks(query, READ_WORDS, ids)).filter(({ words }) => words === '');
  const forgottenIds = new Set(forgotten.map((row) => text(row['task_id'])));
  return prompts.filter(({ id }) => !forgottenIds.has(id));
}

/**
 * Removes the words of a task. Its row without words stays as long as the task: a pass that has read its prompt before
 * finds the row, or has written it and is waited for.
 */
export async function forgetWords(query: SqlWork, { id, accountId }: TaskIdentity): Promise<void> {
  await query.changes(...INSERT_READ([{ task_id: id, account_id: accountId, words: '' }]));
  const read = await WORDS.selectFrom(query, 'read_prompts WHERE task_id = $1', [id]);
  await removeWordRows(query, read.flatMap(toWordRows));
  await query.changes("UPDATE read_prompts SET words = '' WHERE task_id = $1", [id]);
}

async function removeWordRows(query: SqlWork, rows: readonly WordRow[]): Promise<void> {
  for (const chunk of inChunks(rows))
    await query.changes(
      REMOVE_WORDS(chunk.length),
      rowValues([], chunk, (row) => [row.account_id, row.word, row.task_id]),
    );
}

function toWordRows({ id, accountId, words }: PromptWords): WordRow[] {
  return words.map((word) => ({ account_id: accountId, word, task_id: id }));
}

function compareRows(one: WordRow, other: WordRow): number {
  const [left, right] = [toSortKey(one), toSortKey(other)];
  return left < right ? -1 : Number(left > right);
}

function toSortKey({ account_id: accountId, word, task_id: taskId }: WordRow): string {
  return `${accountId}\0${word}\0${taskId}`;
}
