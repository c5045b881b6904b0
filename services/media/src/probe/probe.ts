import type { MediaFacts, ProbeFault } from '../domain/media-facts.ts';

export type ProbeOutcome = { readonly facts: MediaFacts } | { readonly fault: ProbeFault };

/** For whom a file is looked at. */
export interface ProbeOrder {
  /** The processor is shared by account. */
  readonly accountId: string;
  /** Whoever waits leaves the queue when it is aborted; a file that is being looked at is looked at to its end. */
  readonly signal?: AbortSignal | undefined;
}

/** Says what a file on this machine holds. Nothing that the file does can hold or end this process. It rejects as busy when too many wait, and with the reason of the signal. */
export type Probe = (path: string, order: ProbeOrder) => Promise<ProbeOutcome>;

/** Makes a picture of a file, under a path at which there is a file of ours already, and says what it has become. As safe as a probe. */
export type Draw = (path: string, into: string, order: ProbeOrder) => Promise<ProbeOutcome>;

/** To look; to draw a picture anew; to draw the first picture of a video. */
export type Work = 'probe' | 'redraw' | 'poster';

/** What is asked of a parser. */
export interface ProbeJob {
  readonly work: Work;
  readonly path: string;
  /** Empty when nothing is drawn. */
  readonly into: string;
  readonly pixelsMax: number;
  readonly timeoutMs: number;
}
