import type { Confinement } from '../../probe/confinement/confinement.ts';
import { confineCommand } from '../../probe/confinement/limited-command.ts';

const MIB = 1024 ** 2;
/** A PNG of the largest frame is a few mebibytes. */
const FRAME_BYTES_MAX = 16 * MIB;
/** The memory that the libraries map in addition to the frame. */
const RESERVED_BYTES = 256 * MIB;
const STREAMS_MAX = 16;
/** The longest side of the frame. */
const FRAME_SIDE_MAX = 1280;
/** The demuxer by the media type that the probe found. ffmpeg must not guess: a playlist would lead elsewhere. */
const DEMUXERS: Readonly<Record<string, string>> = {
  'video/mp4': 'mov',
  'video/quicktime': 'mov',
  'video/webm': 'matroska',
};
/** The permitted decoders. ffmpeg has hundreds, most of them for formats that no result has. */
const DECODERS = ['h264', 'hevc', 'vp8', 'vp9', 'libvpx', 'libvpx-vp9', 'libdav1d', 'libaom-av1', 'libgav1', 'av1'];

export interface FrameCommand {
  readonly program: string;
  readonly confinement: Confinement;
  readonly mediaType: string;
  readonly processorMs: number;
  readonly memoryBytes: number;
  readonly pixelsMax: number;
  /** The folder that holds the file, and the one for the frame. */
  readonly readable: string;
  readonly writable: string;
  /** Relative to the working folder of the command, so that no character of a path has a meaning for ffmpeg. */
  readonly file: string;
  readonly frame: string;
}

/**
 * Builds the command that decodes the first frame of a file into a PNG. Returns undefined if files of this type have no
 * demuxer.
 */
export function frameCommand(options: FrameCommand): readonly [program: string, ...args: string[]] | undefined {
  const { program, confinement, mediaType, processorMs, memoryBytes } = options;
  const demuxer = DEMUXERS[mediaType];
  if (demuxer === undefined) return undefined;
  return confineCommand(
    confinement,
    { processorMs, fileBytes: FRAME_BYTES_MAX, dataBytes: memoryBytes + RESERVED_BYTES },
    { readable: [options.readable], writable: [options.writable] },
    [program, ...globalOptions(options), ...inputOptions(options, demuxer), ...outputOptions(options)],
  );
}

const globalOptions = ({ memoryBytes }: FrameCommand): readonly string[] => [
  '-nostdin',
  '-hide_banner',
  ...['-loglevel', 'error'],
  ...['-max_alloc', String(Math.min(memoryBytes, 2 ** 31 - 1))],
  ...['-filter_threads', '1'],
];

const inputOptions = ({ file, pixelsMax }: FrameCommand, demuxer: string): readonly string[] => [
  ...['-protocol_whitelist', 'file'],
  ...['-format_whitelist', demuxer],
  ...['-codec_whitelist', DECODERS.join(',')],
  ...['-max_streams', String(STREAMS_MAX)],
  ...['-max_pixels', String(pixelsMax)],
  ...['-threads', '1'],
  ...['-f', demuxer],
  ...['-i', `file:${file}`],
];

const outputOptions = ({ frame }: FrameCommand): readonly string[] => [
  ...['-map', '0:v:0', '-an', '-sn', '-dn'],
  ...['-frames:v', '1'],
  ...['-vf', `scale='min(${side},iw)':'min(${side},ih)':force_original_aspect_ratio=decrease`],
  ...['-pix_fmt', 'rgb24'],
  ...['-threads', '1'],
  ...['-c:v', 'png', '-f', 'image2', '-update', '1'],
  ...['-y', `file:${frame}`],
];
const side = String(FRAME_SIDE_MAX);
