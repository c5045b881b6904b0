import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const SEEDS_KEPT_MAX = 50;
const NAME_MAX = 80;
const FINDING = 'finding.json';

/** A rule that seeds have broken, as its folder keeps it. */
export interface Finding {
  readonly rule: string;
  /** Of the first seed. */
  readonly detail: string;
  /** The first seeds that broke it. */
  readonly seeds: readonly number[];
  /** The number of all seeds that broke it. */
  readonly count: number;
  readonly commit: string;
  readonly node: string;
  /** Replays the first seed; shorter once it is shrunk. */
  readonly command: string;
}

/** The findings of a night: each rule has a folder. */
export interface Findings {
  /** Keeps the finding of a seed. Returns the folder of a rule that was not known; undefined: the seed was added. */
  keep(found: Pick<Finding, 'rule' | 'detail' | 'command'> & { readonly seed: number }): string | undefined;
  /** Keeps the history of the shrunk run, and the command at its end. */
  keepHistory(rule: string, history: string): void;
  list(): readonly Finding[];
}

/** Opens the folder of findings. Those of an earlier night are still known. */
export function openFindings(folder: string, build: Pick<Finding, 'commit' | 'node'>): Findings {
  const found = new Map<string, Finding>();
  const toFolder = (rule: string): string => path.join(folder, toName(rule));
  const find = (rule: string): Finding | undefined => {
    const file = path.join(toFolder(rule), FINDING);
    return found.get(rule) ?? (existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Finding) : undefined);
  };
  const write = (finding: Finding): void => {
    found.set(finding.rule, finding);
    mkdirSync(toFolder(finding.rule), { recursive: true });
    writeFileSync(path.join(toFolder(finding.rule), FINDING), `${JSON.stringify(finding, undefined, 2)}\n`);
  };
  return {
    keep: ({ rule, detail, command, seed }) => {
      const known = find(rule);
      const { seeds, count } = known ?? { seeds: [], count: 0 };
      write({
        ...(known ?? { rule, detail, command, ...build }),
        seeds: seeds.length < SEEDS_KEPT_MAX ? [...seeds, seed] : seeds,
        count: count + 1,
      });
      return known === undefined ? toFolder(rule) : undefined;
    },
    keepHistory: (rule, history) => {
      const finding = find(rule);
      const command = /^replay: (.*)$/m.exec(history)?.[1];
      if (finding === undefined) return;
      writeFileSync(path.join(toFolder(rule), 'history.txt'), history);
      if (command !== undefined) write({ ...finding, command });
    },
    list: () => [...found.values()],
  };
}

function toName(rule: string): string {
  return rule
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, NAME_MAX);
}
