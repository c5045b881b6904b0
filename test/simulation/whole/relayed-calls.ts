import type { Draws } from './draws.ts';

const INPUT_TOKENS = { least: 1, most: 400 };
const OUTPUT_TOKENS = { least: 1, most: 900 };

/** What an upstream reports as used for a relayed call. */
export interface ReportedUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** The relayed calls as their upstream alone knows them. */
export interface RelayedCalls {
  /** Takes in the call of this name. Returns the usage that is reported for it. */
  accept(name: string): ReportedUsage;
  /** Returns what was reported for the call; undefined if it was never taken in. */
  find(name: string): ReportedUsage | undefined;
}

/** `onCall` is called for each call that is taken in. */
export function openRelayedCalls(draws: Draws, onCall: (name: string) => void): RelayedCalls {
  const reports = new Map<string, ReportedUsage>();
  return {
    accept: (name) => {
      onCall(name);
      const usage = {
        inputTokens: draws.whole(`upstream ${name} input tokens`, INPUT_TOKENS.least, INPUT_TOKENS.most),
        outputTokens: draws.whole(`upstream ${name} output tokens`, OUTPUT_TOKENS.least, OUTPUT_TOKENS.most),
      };
      reports.set(name, usage);
      return usage;
    },
    find: (name) => reports.get(name),
  };
}
