import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { silentLog } from '@reelgate/platform/log';
import { findFfmpeg } from './find-ffmpeg.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'media-find-ffmpeg-'));
const program = (name: string, script: string): string => {
  const file = path.join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
};

afterAll(() => {
  rmSync(folder, { recursive: true });
});

test('a path that the operator names is used, and its version is logged', async () => {
  const file = program('ffmpeg', 'echo "ffmpeg version 7.1 Copyright"');
  const logged: unknown[] = [];

  expect(await findFfmpeg(file, { ...silentLog, info: (fields: object) => void logged.push(fields) })).toEqual({
    program: file,
    version: '7.1',
  });
  expect(logged).toEqual([{ program: file, version: '7.1' }]);
});

test('off turns ffmpeg off', async () => {
  expect(await findFfmpeg('off', silentLog)).toBeUndefined();
});

test.each([
  ['is missing', path.join(folder, 'none')],
  ['is a folder', folder],
  ['is another program', program('other', 'echo "gcc version 7.1"')],
  ['fails', program('failing', 'exit 1')],
])('a path that %s is a configuration error', async (_what, file) => {
  await expect(findFfmpeg(file, silentLog)).rejects.toThrow(
    `media.ffmpeg: ${file} is not an ffmpeg that runs; expected the path of one, or off`,
  );
});
