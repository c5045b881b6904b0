import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FOLDERS } from './draw-mutants.ts';
import { OPERATORS } from './mutant.ts';
import { VERDICTS } from './judge-mutant.ts';
import type { Judgement } from './judge-mutant.ts';

/** The judgements of a seed, one JSON object a line, and what is known of the product without a mutant. */
export interface Report {
  readonly file: string;
  list(): readonly Judgement[];
  add(judgement: Judgement): void;
  /** Returns what an earlier run found out about the same program and tests, or finds it out now. */
  recall<T>(state: string, key: string, find: () => Promise<T>): Promise<T>;
}

/** Opens the report of a seed in a folder. A report that is there is continued. The last line of a mutant counts. */
export function openReport(folder: string, seed: number): Report {
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `seed-${seed}.jsonl`);
  const judgements = new Map((existsSync(file) ? readLines(file) : []).map((line) => [line.name, line]));
  const known = path.join(folder, 'unmutated.json');
  return {
    file,
    list: () => [...judgements.values()],
    add: (judgement) => {
      judgements.set(judgement.name, judgement);
      appendFileSync(file, `${JSON.stringify(judgement)}\n`);
    },
    recall: async <T>(state: string, key: string, find: () => Promise<T>): Promise<T> => {
      const found = readKnown(known)[key];
      if (found?.state === state) return found.value as T;
      const value = await find();
      writeFileSync(known, JSON.stringify({ ...readKnown(known), [key]: { state, value } }));
      return value;
    },
  };
}

function readLines(file: string): readonly Judgement[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Judgement);
}

function readKnown(file: string): Readonly<Record<string, { readonly state: string; readonly value: unknown }>> {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as ReturnType<typeof readKnown>) : {};
}

/** Counts the judgements by folder and by operator, and lists the survivors with their edits. */
export function showSummary(judgements: readonly Judgement[]): string {
  const survivors = judgements.filter(({ verdict }) => verdict === 'survived');
  return [
    ...showTable('folder', FOLDERS, judgements, ({ name }) => FOLDERS.find((folder) => name.startsWith(folder)) ?? ''),
    '',
    ...showTable('operator', OPERATORS, judgements, ({ operator }) => operator),
    '',
    `${survivors.length} survivors`,
    ...survivors.map((survivor) => describeJudgement(survivor)),
  ].join('\n');
}

function showTable(
  title: string,
  keys: readonly string[],
  judgements: readonly Judgement[],
  keyOf: (judgement: Judgement) => string,
): readonly string[] {
  const row = (key: string, own: readonly Judgement[]): string => {
    const counts = VERDICTS.map((verdict) => own.filter((judgement) => judgement.verdict === verdict).length);
    return `| ${[key, own.length, ...counts].join(' | ')} |`;
  };
  return [
    `| ${[title, 'mutants', ...VERDICTS].join(' | ')} |`,
    `|${'---|'.repeat(VERDICTS.length + 2)}`,
    ...keys.map((key) =>
      row(
        key,
        judgements.filter((judgement) => keyOf(judgement) === key),
      ),
    ),
    row('all', judgements),
  ];
}

/** Tells one judgement: its name, verdict and edit. */
export function describeJudgement({ name, verdict, by, ms, before, becomes }: Judgement): string {
  const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');
  return `${name}: ${verdict} (${flat(by)}), ${(ms / 1000).toFixed(0)} s\n    ${flat(before)}  =>  ${flat(becomes)}`;
}
