import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { classifyReference } from './reference.ts';

const BASE = 'https://gate.example';
const png = 'data:image/png;base64,iVBORw0KGgo=';

describe('classifyReference', () => {
  test.each([
    ['https://a.example/x.png', 'https://a.example/x.png'],
    ['HTTP://A.example/x.png?q=1', 'http://a.example/x.png?q=1'],
    ['https://ünï.example/ä', 'https://xn--n-nga1b.example/%C3%A4'],
    ['http://127.0.0.1:9/x.png', 'http://127.0.0.1:9/x.png'],
    ['https://gate.example:8443/v1/videos/task_1/content', 'https://gate.example:8443/v1/videos/task_1/content'],
    [
      'https://gate.example.evil.example/v1/videos/task_1/content',
      'https://gate.example.evil.example/v1/videos/task_1/content',
    ],
  ])('%s is remote', (text, url) => {
    expect(classifyReference(text, BASE)).toEqual({ kind: 'remote', url });
  });

  test.each([
    '/v1/videos/task_1/content',
    'https://gate.example/v1/videos/task_1/content',
    'HTTPS://GATE.example:443/v1/videos/task_1/content?variant=video',
    'http://gate.example/v1/videos/task_1/content#x',
    'https://gate.example./v1/videos/task_1/content',
  ])('%s names the content of a task', (text) => {
    expect(classifyReference(text, BASE)).toEqual({ kind: 'own_content', taskId: 'task_1' });
  });

  test.each(['/ximg/vid_1.mp4', '/ximg/vid_1.mp4?exp=1&sig=x', 'https://gate.example/ximg/vid_1.mp4?exp=1'])(
    '%s names an object',
    (text) => {
      expect(classifyReference(text, BASE)).toEqual({ kind: 'own_object', object: 'vid_1' });
    },
  );

  test('the path of the public address is part of every own address', () => {
    expect(classifyReference('https://gate.example/api/ximg/vid_1.mp4', `${BASE}/api`)).toEqual({
      kind: 'own_object',
      object: 'vid_1',
    });
    expect(classifyReference('https://gate.example/ximg/vid_1.mp4', `${BASE}/api`).kind).toBe('refused');
  });

  test.each([
    '',
    ' ',
    'image.png',
    './image.png',
    '//gate.example/ximg/a.mp4',
    'file:///etc/passwd',
    'ftp://a.example/x',
    'asset://asset-1',
    'mm_file://1',
    'javascript:alert(1)',
    'blob:https://a.example/1',
    'http:a.example',
    'http:///a.example',
    'http:\\\\a.example',
    'https:/\\a.example',
    ' https://a.example/',
    'https://a.example/\t',
    'https://a.ex\nample/',
    'https://u@a.example/',
    'https://u:p@a.example/',
    'https://',
    'https://[::1',
    `https://a.example/${'x'.repeat(4100)}`,
    '/v1/models',
    '/v1/videos/task_1',
    '/v1/videos/../models',
    '/v1/videos/%74ask/content',
    '/v1/videos/task_1/content/x',
    '/ximg/',
    '/ximg/a',
    '/ximg/a/b.mp4',
    '/ximg/../secret.mp4',
    'https://gate.example/v1/models',
    'https://gate.example',
  ])('%j is refused', (text) => {
    expect(classifyReference(text, BASE)).toEqual({
      kind: 'refused',
      fault: expect.stringMatching(/^must be|^must have/),
    });
  });

  test('a data URL yields its type and its base64', () => {
    expect(classifyReference(png, BASE)).toEqual({ kind: 'data', declaredType: 'image/png', base64: 'iVBORw0KGgo=' });
    expect(classifyReference('data:;base64,abcd', BASE)).toEqual({ kind: 'data', declaredType: '', base64: 'abcd' });
    expect(classifyReference('DATA:Image/PNG;name=a.png;BASE64,iVBO\r\nRw0K Ggo', BASE)).toEqual({
      kind: 'data',
      declaredType: 'image/png',
      base64: 'iVBORw0KGgo',
    });
  });

  test.each([
    'data:image/png;base64,!!!!',
    'data:image/png;base64,',
    'data:image/png;base64',
    'data:image/png,abcd',
    'data:,',
    'data:image/png;base64,abcde',
    'data:image/png;base64,ab=c',
    'data:image/png;base64,abc==',
    'data:image/png;base64,==',
    'data:image/png;base64,a===',
    'data:image/png;base64,ab==cd==',
    'data:image/png;base64,ab-_',
    `data:${'x'.repeat(300)};base64,abcd`,
  ])('%s is refused', (text) => {
    expect(classifyReference(text, BASE).kind).toBe('refused');
  });

  test('a large data URL is read like a small one', () => {
    const base64 = 'A'.repeat(64 * 1024 * 1024);

    expect(classifyReference(`data:image/png;base64,${base64}`, BASE)).toMatchObject({ kind: 'data' });
    expect(classifyReference(`data:image/png;base64,${base64}!`, BASE)).toMatchObject({ kind: 'refused' });
  });

  test('every text gets a kind', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.webUrl(),
          fc.string().map((text) => `http://${text}`),
          fc.string().map((text) => `data:${text}`),
        ),
        (text) => {
          expect(classifyReference(text, BASE)).toHaveProperty('kind');
        },
      ),
    );
  });
});
