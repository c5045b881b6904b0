import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { aContextIr, aGeneration, aPrompt, aRegeneration, audio, image, text, video } from '../testing/bodies.ts';
import {
  contextIrPath,
  generationPath,
  queryPath,
  regenerationPath,
  runningSandbox,
  type RunningSandbox,
} from '../testing/running-sandbox.ts';

let sandbox: RunningSandbox;
beforeEach(async () => {
  sandbox = await runningSandbox();
});
afterEach(() => sandbox.stop());

const refused = (detail: string): object => ({
  status: 400,
  body: expect.objectContaining({ error: expect.objectContaining({ message: `invalid params, ${detail} (2013)` }) }),
});

test('a finished generation has a signed link, its seconds and its tokens', async () => {
  const id = await sandbox.created(generationPath, aGeneration({ duration: 6, resolution: '2K', ratio: '9:16' }));
  const createdAt = Math.floor(sandbox.clock.now() / 1000);

  const queued = await sandbox.task(id);
  sandbox.clock.advance(3000);
  const succeeded = await sandbox.task(id);

  const shared = {
    id,
    model: 'MiniMax-H3',
    created_at: createdAt,
    resolution: '2K',
    duration: 6,
    ratio: '9:16',
    task_type: 'generation',
    modality: 'video',
  };
  expect(queued).toEqual({ ...shared, status: 'queued', updated_at: createdAt, usage: {} });
  expect(succeeded).toEqual({
    ...shared,
    status: 'succeeded',
    updated_at: createdAt + 2,
    content: { url: expect.stringContaining(`${sandbox.url}/cdn/${id}/output.mp4?`) },
    usage: {
      total_seconds: 6,
      input_seconds: 0,
      output_seconds: 6,
      input_image_count: 0,
      total_tokens: 312_000,
      prompt_tokens: 0,
      completion_tokens: 312_000,
    },
  });
});

test('references count in the usage, and an adaptive ratio becomes a concrete one', async () => {
  const content = [text(), image('reference_image'), image('reference_image'), audio('reference_audio')];
  const id = await sandbox.created(generationPath, aGeneration({ content, ratio: 'adaptive' }));

  sandbox.clock.advance(3000);
  const { ratio, usage } = await sandbox.task(id);

  expect({ ratio, usage }).toMatchObject({ ratio: '16:9', usage: { input_image_count: 2, input_audio_seconds: 0 } });
});

test('a finished context-IR has a text in sections that quotes the prompt, and tokens but no seconds', async () => {
  const id = await sandbox.created(
    contextIrPath,
    aContextIr({ content: [text('A fox in the snow'), video('reference_video')] }),
  );

  sandbox.clock.advance(3000);
  const task = await sandbox.task(id);

  const sections = task.content?.prompt?.split('\n').map((line) => line.slice(0, line.indexOf(':')));
  expect(sections).toEqual([
    'subject_definitions',
    'summary',
    'retention_analysis',
    'detailed_description',
    'integrated_multimodal_description',
    'overall_soundscape',
    'non_diegetic_music',
  ]);
  expect(task.content?.prompt).toContain('A fox in the snow');
  expect(Object.keys(task.usage)).toEqual(['total_tokens', 'prompt_tokens', 'completion_tokens']);
  expect(task).toMatchObject({ task_type: 'h3_context_ir', modality: 'text' });
  expect(task).not.toHaveProperty('resolution');
});

test('the text of the longest context-IR is short enough for a generation', async () => {
  const id = await sandbox.created(contextIrPath, aContextIr({ content: [text('x'.repeat(7000))] }));

  sandbox.clock.advance(3000);
  const { content } = await sandbox.task(id);

  await expect(sandbox.created(generationPath, aPrompt(content?.prompt ?? ''))).resolves.toMatch(/^\d{15}$/);
});

test('a regeneration by id has the prompt, ratio and duration of its source', async () => {
  const source = await sandbox.created(generationPath, aGeneration({ content: [text(), image()], duration: 7 }));
  sandbox.clock.advance(3000);
  const id = await sandbox.created(regenerationPath, aRegeneration({ source_task_id: source }));

  sandbox.clock.advance(3000);
  const task = await sandbox.task(id);

  expect(task).toMatchObject({
    status: 'succeeded',
    task_type: 'regeneration',
    resolution: '2K',
    duration: 7,
    ratio: '',
    usage: { total_seconds: 7, input_image_count: 1 },
  });
});

type Source = { readonly path: string; readonly body: object; readonly ageMs: number };

test.each<[string, Source, string]>([
  [
    'still runs',
    { path: generationPath, body: aGeneration(), ageMs: 1500 },
    'source_task_id must name a task that succeeded',
  ],
  [
    'failed',
    { path: generationPath, body: aPrompt('[fail]'), ageMs: 3000 },
    'source_task_id must name a task that succeeded',
  ],
  ['is not a video', { path: contextIrPath, body: aContextIr(), ageMs: 3000 }, 'source_task_id must name a generation'],
  [
    'is in 2K',
    { path: generationPath, body: aGeneration({ resolution: '2K' }), ageMs: 3000 },
    'source_task_id must name a 768P generation',
  ],
  [
    'is eight days old',
    { path: generationPath, body: aGeneration(), ageMs: 8 * 24 * 3_600_000 },
    'source_task_id names no task of this account',
  ],
])('a regeneration refuses a source that %s', async (_name, { path, body, ageMs }, detail) => {
  const source = await sandbox.created(path, body);
  sandbox.clock.advance(ageMs);

  const reply = await sandbox.call('POST', regenerationPath, aRegeneration({ source_task_id: source }));

  expect(reply).toMatchObject(refused(detail));
});

test('a base video that cannot be fetched is accepted unchecked', async () => {
  const content = [text(), video('base_video', 'mm_file://1')];

  const id = await sandbox.created(regenerationPath, aRegeneration({ content }));

  expect(await sandbox.task(id)).toMatchObject({ duration: 5, task_type: 'regeneration' });
});

test('a task can no longer be read after seven days', async () => {
  const id = await sandbox.created(generationPath, aGeneration());
  sandbox.clock.advance(7 * 24 * 3_600_000 + 1);

  const [query, list] = [await sandbox.call('GET', `${queryPath}/${id}`), await sandbox.call('GET', queryPath)];

  expect([query.status, list.body]).toEqual([400, { items: [], total: 0 }]);
});

test('a failed rendering fails its task, and the sandbox reports the fault', async () => {
  const broken = await runningSandbox({ render: () => Promise.reject(new Error('no encoder')) });
  const id = await broken.created(generationPath, aGeneration());

  broken.clock.advance(3000);
  const task = await broken.task(id);
  await broken.stop();

  expect(task).toMatchObject({ status: 'failed', error: { code: '1000', message: 'internal error' }, usage: {} });
  expect(broken.faults).toEqual([new Error('no encoder')]);
});
