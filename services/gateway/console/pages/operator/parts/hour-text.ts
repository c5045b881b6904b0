import { workWords } from '../work-words.ts';

/** Describes what the picture of an hour shows. */
export function hourText(what: string, minutes: readonly number[]): string {
  return workWords.now.hour(what, Math.min(...minutes), Math.max(...minutes), minutes.at(-1) ?? 0);
}
