import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { PictureOrder } from '../../deploy/local/sandbox/render/picture-order.ts';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { showTask } from '../harness/records.ts';
import { KEYS, UPSTREAM_KEY } from '../harness/test-config.ts';

const FIXTURES = path.join(import.meta.dirname, '../../services/media/testing/fixtures');
const VIDEO = readFileSync(path.join(FIXTURES, '768p.mp4'));
/** A blob in its final folder. A blob that is still written lies in another folder. */
const FINISHED_BLOB = /^[0-9a-f]{2}\/[0-9a-f]{64}/;
const TIMEOUT_MS = 120_000;
const TOKEN = ['--token', KEYS.demo];

let sandbox: Sandbox;
let program: Program;
let folder: string;
const drawn: PictureOrder[] = [];

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-picture-'));
  sandbox = await startSandbox({
    listen: '127.0.0.1:0',
    key: UPSTREAM_KEY,
    render: async (order) => {
      drawn.push(order);
      return VIDEO;
    },
  });
  program = await newProgram('one program', { upstream: new URL(sandbox.url).host });
  await program.start();
}, TIMEOUT_MS);
afterAll(async () => {
  await program?.end();
  await sandbox?.stop();
  rmSync(folder, { recursive: true });
}, TIMEOUT_MS);

/** The usage that the upstream reports for a task. */
async function usageUpstream(id: string): Promise<object> {
  const response = await fetch(`${sandbox.url}/v2/query/video_generation/${id}`, {
    headers: { authorization: `Bearer ${UPSTREAM_KEY}` },
  });
  const { task } = (await response.json()) as { readonly task: { readonly usage: object } };
  return task.usage;
}

/** The PNGs in the media store. The stored thumbnails are JPEGs, so every PNG is a staged picture. */
function stagedPictures(): readonly Buffer[] {
  const blobs = path.join(program.config.data_dir, 'blobs');
  return readdirSync(blobs, { recursive: true, encoding: 'utf8' })
    .filter((name) => FINISHED_BLOB.test(name))
    .map((name) => readFileSync(path.join(blobs, name)))
    .filter((bytes) => bytes.toString('latin1', 1, 4) === 'PNG');
}

test(
  'video create --image FILE stages the picture, and the upstream makes the video from it',
  async () => {
    const picture = path.join(folder, 'boat.png');
    const video = path.join(folder, 'boat.mp4');
    copyFileSync(path.join(FIXTURES, 'image.png'), picture);

    const made = await program.command('video', 'create', 'a red boat', '--image', picture, '-o', video, ...TOKEN);

    expect([made.code, made.json]).toEqual([0, expect.objectContaining({ status: 'completed', charged: '0.4 USD' })]);
    expect(readFileSync(video).equals(VIDEO)).toBe(true);
    expect(stagedPictures()).toHaveLength(1);
    const { id } = made.json as { readonly id: string };
    const task = await showTask(program, id);
    expect(task.order.content).toContainEqual({
      media: expect.objectContaining({ role: 'MEDIA_ROLE_FIRST_FRAME', object: expect.stringMatching(/^inl_/) }),
    });
    expect(await usageUpstream(task.attempts[0]!.upstreamId)).toMatchObject({ input_image_count: 1 });
    expect(drawn).toEqual([expect.objectContaining({ prompt: 'a red boat', caption: 'generation · 1 first frame' })]);
  },
  TIMEOUT_MS,
);

test(
  'video create without --image stages nothing, and the upstream counts no picture',
  async () => {
    const before = stagedPictures().length;

    const made = await program.command('video', 'create', 'a boat', '-o', path.join(folder, 'text.mp4'), ...TOKEN);

    const { id } = made.json as { readonly id: string };
    const task = await showTask(program, id);
    expect(await usageUpstream(task.attempts[0]!.upstreamId)).toMatchObject({ input_image_count: 0 });
    expect(drawn.at(-1)).toMatchObject({ prompt: 'a boat', caption: 'generation · text only' });
    expect(stagedPictures()).toHaveLength(before);
  },
  TIMEOUT_MS,
);
