import type { Draws } from './draws.ts';

const INPUT_TOKENS = { least: 1, most: 400 };
const OUTPUT_TOKENS = { least: 1, most: 900 };
/** Of the calls, this part takes longer than a queued call is leased for. */
const LONG_CALLS = 0.3;
const LONG_MS = { least: 12_000, most: 30_000 };

/** What an upstream reports as used for a relayed call. */
export interface ReportedUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** A call that an upstream has taken in. */
export interface AcceptedCall extends ReportedUsage {
  /** How long its answer takes. */
  readonly answerMs: number;
}

/** The relayed calls as their upstream alone knows them. */
export interface RelayedCalls {
  /** Takes in the call of this name. */
  accept(name: string): AcceptedCall;
  /** Returns undefined if the call was never taken in. */
  find(name: string): AcceptedCall | undefined;
}

/** `onCall` is called for each call that is taken in. */
export function openRelayedCalls(draws: Draws, onCall: (name: string) => void): RelayedCalls {
  const calls = new Map<string, AcceptedCall>();
  return {
    accept: (name) => {
      onCall(name);
      const isLong = draws.happens(`upstream ${name} takes long`, LONG_CALLS);
      const call = {
        inputTokens: draws.whole(`upstream ${name} input tokens`, INPUT_TOKENS.least, INPUT_TOKENS.most),
        outputTokens: draws.whole(`upstream ${name} output tokens`, OUTPUT_TOKENS.least, OUTPUT_TOKENS.most),
        answerMs: isLong ? draws.whole(`upstream ${name} takes`, LONG_MS.least, LONG_MS.most) : 0,
      };
      calls.set(name, call);
      return call;
    },
    find: (name) => calls.get(name),
  };
}
