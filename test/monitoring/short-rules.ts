import { readFileSync } from 'node:fs';
import { RULES } from './prometheus-rule.ts';

/** Minutes of a fault become seconds. What an alert compares with minutes of age is compared with seconds. */
const SHORTER: readonly (readonly [pattern: RegExp, by: string])[] = [
  [/^(\s+)for: \d+[mh]$/gm, '$1for: 2s'],
  [/\[\d+[mhd]\]/g, '[15s]'],
  [/(reelgate_tasks_due_lag_seconds\)) > 30\b/, '$1 > 3'],
  [/(reelgate_attention_oldest_seconds\)) > 1800\b/, '$1 > 3'],
  [/(reelgate_settlement_lag_seconds\)) > 300\b/, '$1 > 3'],
];

/** The rules with times that a test can wait for. Each pattern must be found. */
export function shortRules(): string {
  return SHORTER.reduce(
    (rules, [pattern, by]) => {
      const shorter = rules.replace(pattern, by);
      if (shorter === rules) throw new Error(`the rules have nothing like ${pattern.source}`);
      return shorter;
    },
    readFileSync(RULES, 'utf8'),
  );
}
