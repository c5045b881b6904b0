import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** The ffmpeg of this machine; undefined: the tests that need one are skipped with a message. */
export const FFMPEG = (process.env['PATH'] ?? '')
  .split(path.delimiter)
  .map((folder) => path.join(folder, 'ffmpeg'))
  .find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
if (FFMPEG === undefined) process.stderr.write('skipped: thumbnails by ffmpeg: there is no ffmpeg on the PATH\n');

/**
 * The options with which ffmpeg encodes each kind of video that the parsers do not decode, and the file that it comes
 * in.
 */
export const KINDS: Readonly<Record<string, { readonly file: string; readonly options: readonly string[] }>> = {
  'H.265': { file: 'hevc.mp4', options: ['-c:v', 'libx265', '-pix_fmt', 'yuv420p', '-x265-params', 'log-level=none'] },
  'H.265 of ten bits': {
    file: 'hevc-10.mov',
    options: ['-c:v', 'libx265', '-pix_fmt', 'yuv420p10le', '-tag:v', 'hvc1', '-x265-params', 'log-level=none'],
  },
  'VP9 in WebM': { file: 'vp9.webm', options: ['-c:v', 'libvpx-vp9', '-cpu-used', '8', '-deadline', 'realtime'] },
  'VP9 in MP4': { file: 'vp9.mp4', options: ['-c:v', 'libvpx-vp9', '-cpu-used', '8', '-deadline', 'realtime'] },
  AV1: { file: 'av1.mp4', options: ['-c:v', 'libsvtav1', '-preset', '12', '-pix_fmt', 'yuv420p'] },
  'H.264 of ten bits': { file: 'h264-10.mp4', options: ['-c:v', 'libx264', '-pix_fmt', 'yuv420p10le'] },
  'H.264 of fields': { file: 'h264-fields.mp4', options: ['-c:v', 'libx264', '-flags', '+ildct+ilme'] },
};

/** Encodes half a second of a test picture; undefined: this ffmpeg lacks the encoder. */
export function encodeVideo(folder: string, kind: string, size = '320x256'): string | undefined {
  const { file = '', options = [] } = KINDS[kind] ?? {};
  const target = path.join(folder, `${size}-${file}`);
  const source = ['-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=24:duration=0.5`];
  try {
    execFileSync(FFMPEG ?? 'ffmpeg', ['-v', 'error', '-y', ...source, ...options, target], { stdio: 'ignore' });
    return target;
  } catch {
    return undefined;
  }
}
