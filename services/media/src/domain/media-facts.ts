/** The properties of a medium, read from its bytes. */
export type MediaFacts = ImageFacts | VideoFacts | AudioFacts;

export interface ImageFacts {
  readonly family: 'image';
  readonly mediaType: string;
  readonly width: number;
  readonly height: number;
}

export interface VideoFacts {
  readonly family: 'video';
  readonly mediaType: string;
  readonly width: number;
  readonly height: number;
  /** The length of the video track by its samples. The length in the header does not count. */
  readonly durationMs: number;
  /** The average over the counted frames. */
  readonly frameRate: number;
  /** Counted up to a bound far above the frames of a base video. */
  readonly frames: number;
  readonly videoCodec: string;
  /** Undefined if the video has no audio track. */
  readonly audioCodec?: string | undefined;
}

export interface AudioFacts {
  readonly family: 'audio';
  readonly mediaType: string;
  readonly durationMs: number;
  readonly codec: string;
}

/** The reason for which there are no facts. */
export type ProbeFault =
  | 'unknown_type'
  | 'broken'
  | 'too_many_pixels'
  | 'several_frames'
  | 'no_video'
  | 'no_audio'
  | 'not_decoded'
  | 'overrun';

/**
 * The text for a client. It continues a sentence that begins with the name of the item. `types` are the kinds of files
 * that the item can be.
 */
export const PROBE_FAULTS: Readonly<Record<ProbeFault, (types: string) => string>> = {
  unknown_type: (types) => `must be ${types}; its bytes are of none of these`,
  broken: () => 'must be a complete file of its type; it is truncated or damaged',
  too_many_pixels: () => 'has more pixels than are accepted',
  several_frames: () => 'must be a single picture; it has several frames or pages',
  no_video: () => 'must have a readable video track; it has none',
  no_audio: () => 'must have a readable audio track; it has none',
  not_decoded: () => 'must use a codec that this service decodes',
  overrun: () => 'could not be read within the time and memory limits for one file',
};
