import type { MediaFacts, ProbeFault } from '../domain/media-facts.ts';

export type ProbeOutcome = { readonly facts: MediaFacts } | { readonly fault: ProbeFault };

/** Says what a file on this machine holds. Nothing that the file does can hold or end the process; it rejects only when too many wait. */
export type Probe = (path: string) => Promise<ProbeOutcome>;

/** Makes a picture of a file, under a path at which there is a file of ours already, and says what it has become. As safe as a probe. */
export type Draw = (path: string, into: string) => Promise<ProbeOutcome>;

/** To look; to draw a picture anew; to draw the first picture of a video. */
export type Work = 'probe' | 'redraw' | 'poster';

/** What is asked of a worker. */
export interface ProbeJob {
  readonly work: Work;
  readonly path: string;
  /** Empty when nothing is drawn. */
  readonly into: string;
  readonly pixelsMax: number;
  readonly timeoutMs: number;
}
