import { chmodSync, copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { systemClock } from '@reelgate/platform/clock';
import { newIds } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import { encodeVideo, FFMPEG, KINDS } from '../../../testing/ffmpeg-videos.ts';
import { fixture } from '../../../testing/origin.ts';
import { confinementOnce } from '../../probe/confinement/confinement.ts';
import { newFrameExtractor } from './frame-extractor.ts';
import type { FrameExtractorOptions } from './frame-extractor.ts';

const MIB = 1024 ** 2;
const TEST_MS = 120_000;
const MP4 = { accountId: 'demo', mediaType: 'video/mp4' };
const confinement = confinementOnce(silentLog);
const folder = mkdtempSync(path.join(os.tmpdir(), 'media-ffmpeg-'));
const parsing = mkdtempSync(path.join(os.tmpdir(), 'media-ffmpeg-runs-'));
const [video, into] = [path.join(folder, 'video'), path.join(folder, 'into')] as const;

afterAll(() => {
  for (const each of [folder, parsing]) rmSync(each, { recursive: true });
});

function extractor(options: Partial<FrameExtractorOptions> = {}) {
  return newFrameExtractor({
    clock: systemClock,
    log: silentLog,
    newId: newIds(systemClock),
    program: FFMPEG ?? '',
    confinement,
    folder: parsing,
    timeoutMs: 5000,
    memoryBytes: 512 * MIB,
    pixelsMax: 40_000_000,
    queueMax: 8,
    queuePerAccountMax: 8,
    ...options,
  });
}

/** Extracts a frame. `left` are the files that the run left in the folder of the parsers. */
async function extracted(options: Partial<FrameExtractorOptions> = {}, order = MP4) {
  writeFileSync(into, '');
  const isExtracted = await extractor(options).extract(video, into, order);
  return { isExtracted, bytes: readFileSync(into).byteLength, left: readdirSync(parsing) };
}
const NO_FRAME = { isExtracted: false, bytes: 0, left: [] };

(FFMPEG === undefined ? describe.skip : describe)('the ffmpeg of this machine', () => {
  test.each(Object.keys(KINDS))(
    'extracts the first frame of %s',
    async (kind) => {
      const source = encodeVideo(folder, kind);
      if (source === undefined) {
        process.stderr.write(`skipped: ${kind}: this ffmpeg does not encode it\n`);
        return;
      }
      copyFileSync(source, video);
      const mediaType = source.endsWith('.webm') ? 'video/webm' : 'video/mp4';

      expect(await extracted({}, { ...MP4, mediaType })).toMatchObject({ isExtracted: true, left: [] });
      expect(await sharp(into).metadata()).toMatchObject({ format: 'png', width: 320, height: 256 });
    },
    TEST_MS,
  );

  test(
    'scales a large frame down before it leaves the process',
    async () => {
      copyFileSync(encodeVideo(folder, 'VP9 in MP4', '2560x1440') ?? '', video);

      expect(await extracted()).toMatchObject({ isExtracted: true });
      expect(await sharp(into).metadata()).toMatchObject({ width: 1280, height: 720 });
    },
    TEST_MS,
  );

  const secret = path.join(folder, 'secret.mp4');
  const hidden = (name: string, bytes: string | Buffer): void => {
    writeFileSync(secret, encodeVideo(folder, 'VP9 in MP4') === undefined ? '' : fixture('768p.mp4'));
    writeFileSync(path.join(folder, name), bytes);
    copyFileSync(path.join(folder, name), video);
  };
  test.each<[string, () => void, string]>([
    ['a concat list', () => hidden('list', `ffconcat version 1.0\nfile ${secret}\n`), 'video/mp4'],
    ['an HLS playlist', () => hidden('hls', `#EXTM3U\n#EXTINF:1,\nfile://${secret}\n#EXT-X-ENDLIST\n`), 'video/mp4'],
    ['an HLS playlist as WebM', () => hidden('hls', `#EXTM3U\n#EXTINF:1,\n${secret}\n`), 'video/webm'],
    ['an SDP description', () => hidden('sdp', 'v=0\nm=video 5004 RTP/AVP 96\nc=IN IP4 127.0.0.1\n'), 'video/mp4'],
    ['a video with a missing end', () => hidden('cut', fixture('768p.mp4').subarray(0, 2000)), 'video/mp4'],
    ['random bytes', () => hidden('noise', Buffer.alloc(4096, 'ab')), 'video/mp4'],
    ['no bytes', () => hidden('empty', ''), 'video/mp4'],
    ['a container that the probe does not recognise', () => hidden('clip', fixture('clip.webm')), 'video/x-flv'],
    ['a WebM that is declared as MP4', () => hidden('clip', fixture('clip.webm')), 'video/mp4'],
  ])('gives no frame of %s and leaves nothing', async (_what, prepare, mediaType) => {
    prepare();

    expect(await extracted({}, { ...MP4, mediaType })).toEqual(NO_FRAME);
  });

  test(
    'gives no frame with more pixels than the limit',
    async () => {
      copyFileSync(encodeVideo(folder, 'VP9 in MP4', '2560x1440') ?? '', video);

      expect(await extracted({ pixelsMax: 1_000_000 })).toEqual(NO_FRAME);
    },
    TEST_MS,
  );

  test(
    'gives no frame of a file that exceeds the time limit',
    async () => {
      copyFileSync(encodeVideo(folder, 'AV1', '2560x1440') ?? '', video);

      expect(await extracted({ timeoutMs: 1 })).toEqual(NO_FRAME);
    },
    TEST_MS,
  );
});

describe('a compromised program', () => {
  /** A shell script instead of ffmpeg. It can write into its working folder only. */
  const program = (name: string, script: string): string => {
    const file = path.join(folder, name);
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
    return file;
  };

  test.each([
    ['computes forever', 'while :; do :; done'],
    ['waits forever', 'exec sleep 1000'],
    ['fills its memory', 'a=aaaaaaaa; while :; do a="$a$a"; done'],
    ['fills the disk', 'while :; do cat /proc/self/status >> drawn || exit 0; done'],
    ['floods its error output', 'while :; do echo flood >&2; done'],
    ['crashes', 'kill -SEGV $$'],
    ['fails', 'exit 1'],
    ['reports success and wrote nothing', 'exit 0'],
    ['leaves a link to another file', 'ln -s /etc/passwd drawn; exit 0'],
  ])(
    'that %s gives no frame within the limits, and leaves nothing',
    async (what, script) => {
      writeFileSync(video, 'video');

      expect(await extracted({ program: program(what.replaceAll(' ', '-'), script), timeoutMs: 500 })).toEqual(
        NO_FRAME,
      );
    },
    TEST_MS,
  );

  test('has no environment, no network, and no files of the machine where it can be confined', async () => {
    writeFileSync(video, 'video');
    const script = program('world', '{ env; ls /sys/class/net; } > drawn; exit 0');
    writeFileSync(into, '');
    await extractor({ program: script }).extract(video, into, MP4);
    const said = readFileSync(into, 'utf8').split('\n');

    expect(
      said.filter((line) => /^[A-Z]\w*=/.test(line) && !/^(TMPDIR|MALLOC_ARENA_MAX|PWD|_|OLDPWD)=/.test(line)),
    ).toEqual([]);
    if ((await confinement()).level === 'process') return;
    expect(await readAs('routes', 'cat /proc/net/route')).toBe('');
    expect(await readAs('accounts', 'cat /etc/passwd')).toBe('');
  });

  /** What a confined process reads with a command. */
  async function readAs(name: string, command: string): Promise<string> {
    writeFileSync(into, '');
    await extractor({ program: program(name, `${command} > drawn; exit 0`) }).extract(video, into, MP4);
    return readFileSync(into, 'utf8');
  }

  test('ends when the service stops', async () => {
    writeFileSync(video, 'video');
    writeFileSync(into, '');
    const stopped = extractor({ program: program('long', 'exec sleep 1000'), timeoutMs: 60_000 });
    const extracting = stopped.extract(video, into, MP4);
    await stopped.stop();

    expect(await extracting).toBe(false);
    expect(readdirSync(parsing)).toEqual([]);
  });
});
