import type { MediaFacts, ProbeFault } from '../domain/media-facts.ts';

export type ProbeOutcome = { readonly facts: MediaFacts } | { readonly fault: ProbeFault };

/** The account and the signal of a probe. */
export interface ProbeOrder {
  /** Accounts share the processor. */
  readonly accountId: string;
  /** Its abort takes a waiting probe out of the queue. A parser that has begun a file finishes it. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Finds out the type and the facts of a file on this machine. No file can block or crash this process. It rejects as
 * busy when too many probes wait, and with the reason of the signal when it is aborted.
 */
export type Probe = (path: string, order: ProbeOrder) => Promise<ProbeOutcome>;

/** The processes that probe one kind of files. */
export interface ProbeParsers {
  readonly probe: Probe;
  /**
   * Throws as busy while every probe would be: no process runs, and none may start yet. It is called before each fetch,
   * so that a file is not fetched in vain, again and again.
   */
  assertReady(): void;
}

/** Draws a picture of a file into another file of ours, and returns its facts. It is as safe as a probe. */
export type Draw = (path: string, into: string, order: ProbeOrder) => Promise<ProbeOutcome>;

/**
 * The jobs: to probe a file, to redraw a picture, to draw the thumbnail of a video, and to draw the thumbnail of a
 * picture.
 */
export type Work = 'probe' | 'redraw' | 'thumbnail' | 'picture_thumbnail';

/** A job for a parser. */
export interface ProbeJob {
  readonly work: Work;
  readonly path: string;
  /** Empty if the job does not draw. */
  readonly into: string;
  readonly pixelsMax: number;
  readonly timeoutMs: number;
}

interface JobNumber {
  /** The answer repeats the number, so that no file gets the facts of another one. */
  readonly job: number;
}

/** A job as its process gets it. */
export interface NumberedJob extends ProbeJob, JobNumber {}

/** The answer of a process. */
export type NumberedOutcome = ProbeOutcome & JobNumber;
