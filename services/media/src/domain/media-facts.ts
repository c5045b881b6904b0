/** What the bytes of a medium say of themselves. */
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
  /** Of the video track, by its samples and never by what its header says. */
  readonly durationMs: number;
  /** The average of the frames counted. */
  readonly frameRate: number;
  /** Counted up to a bound far above what a base video may have. */
  readonly frames: number;
  readonly videoCodec: string;
  /** Undefined: it is silent. */
  readonly audioCodec?: string | undefined;
}

export interface AudioFacts {
  readonly family: 'audio';
  readonly mediaType: string;
  readonly durationMs: number;
  readonly codec: string;
}

/** Why there are no facts. */
export type ProbeFault =
  | 'unknown_type'
  | 'broken'
  | 'too_many_pixels'
  | 'several_frames'
  | 'no_video'
  | 'no_audio'
  | 'not_decoded'
  | 'overrun';

/** What is said of it, going on from the item's name. */
export const PROBE_FAULTS: Readonly<Record<ProbeFault, string>> = {
  unknown_type: 'must be a picture, a video or sound of a supported type; its bytes are none of them',
  broken: 'must be a whole file of its type; it is cut off or damaged',
  too_many_pixels: 'has more pixels than are taken',
  several_frames: 'must be a still picture; it has several frames or pages',
  no_video: 'must hold a video track; it has none that can be read',
  no_audio: 'must hold sound; it has none that can be read',
  not_decoded: 'must be of a codec that is decoded here',
  overrun: 'could not be read within the time and memory that a file is given',
};
