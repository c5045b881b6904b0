import type { MediaFacts, ProbeFault } from '../domain/media-facts.ts';

export type ProbeOutcome = { readonly facts: MediaFacts } | { readonly fault: ProbeFault };

/** Says what a file on this machine holds. Nothing that the file does can hold or end the process; it rejects only when too many wait. */
export type Probe = (path: string) => Promise<ProbeOutcome>;

/** What is asked of a worker. */
export interface ProbeJob {
  readonly path: string;
  readonly pixelsMax: number;
  readonly timeoutMs: number;
}
