import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { classify } from './decode.ts';

const text = { type: 'text', text: 'a boat' } as const;
const base = { type: 'video_url', role: 'base_video', video_url: { url: 'https://x.example/v.mp4' } } as const;
const reference = { ...base, role: 'reference_video' } as const;
const image = { type: 'image_url', image_url: { url: 'https://x.example/i.png' } } as const;

describe('the body selects the kind', () => {
  test.each([
    ['a source task', { source_task_id: 'task_1' }, 'regeneration'],
    ['a source task and other content', { source_task_id: 'task_1', content: [text, image] }, 'regeneration'],
    ['exactly one base_video', { content: [text, base] }, 'regeneration'],
    ['a base_video beside a reference_video', { content: [reference, base] }, 'regeneration'],
    ['a reference_video', { content: [text, reference] }, 'generation'],
    ['an empty source_task_id', { source_task_id: '', content: [text] }, 'generation'],
    ['no evidence', { content: [text, image] }, 'generation'],
    ['nothing at all', {}, 'generation'],
    ['action generation', { action: 'generation' }, 'generation'],
    ['action generate', { action: 'generate', content: [reference] }, 'generation'],
    ['action regeneration with a source', { action: 'regeneration', source_task_id: 'task_1' }, 'regeneration'],
    ['action regenerate with a base_video', { action: 'regenerate', content: [base] }, 'regeneration'],
  ] as const)('%s', (_what, body, kind) => {
    expect(classify(body)).toEqual({ kind });
  });
});

describe('a conflict is named', () => {
  test.each([
    [
      'a source task and a base_video',
      { source_task_id: 'task_1', content: [base] },
      'conflicting_source',
      'source_task_id',
    ],
    ['two base_video items', { content: [base, text, base] }, 'conflicting_source', 'content'],
    ['action generation with a source', { action: 'generation', source_task_id: 'task_1' }, 'invalid_action', 'action'],
    ['action generate with a base_video', { action: 'generate', content: [base] }, 'invalid_action', 'action'],
    ['action regeneration without evidence', { action: 'regeneration', content: [text] }, 'invalid_action', 'action'],
    [
      'action regeneration with a reference_video',
      { action: 'regeneration', content: [reference] },
      'invalid_action',
      'action',
    ],
    ['an unknown action', { action: 'upscale' }, 'invalid_action', 'action'],
    ['an empty action', { action: '' }, 'invalid_action', 'action'],
    ['an action that is a name of objects', { action: 'constructor' }, 'invalid_action', 'action'],
  ] as const)('%s', (_what, body, reason, field) => {
    expect(classify(body)).toMatchObject({ conflict: { reason, field } });
  });
});

test('every body has a kind or a named conflict, and only a source makes a regeneration', () => {
  const body = fc.record(
    {
      source_task_id: fc.constantFrom('', 'task_1', ' '),
      content: fc.array(fc.constantFrom(text, base, reference, image), { maxLength: 5 }),
      action: fc.constantFrom('generation', 'generate', 'regeneration', 'regenerate', 'other'),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(body, (fields) => {
      const classified = classify(fields);
      const bases = (fields.content ?? []).filter((item) => item === base).length;
      const evident = (fields.source_task_id ?? '') !== '' || bases === 1;
      if ('kind' in classified) expect(classified.kind).toBe(evident ? 'regeneration' : 'generation');
      else expect(classified.conflict.message).not.toBe('');
      if (bases > 1 || (bases > 0 && (fields.source_task_id ?? '') !== ''))
        expect(classified).toHaveProperty('conflict');
    }),
  );
});
