import { describe, expect, test } from '@jest/globals';
import { classifyReference, isOwnHost } from './reference.ts';

const PUBLIC_URL = 'https://gate.example';
const CONTENT = '/v1/videos/task_1/content';
const kindOf = (text: string, publicUrl = PUBLIC_URL): string => classifyReference(text, publicUrl).kind;

describe('an address of this service never becomes a request in any spelling:', () => {
  test.each([
    'https://gate.example',
    'HTTPS://GATE.EXAMPLE',
    'https://gate.example.',
    'https://gate.example:443',
    'https://gate.example:0443',
    'https://gate.example:',
    'https://gate.example.:443',
    'http://gate.example',
    'http://gate.example:80',
    'https://gate.example:80',
    'http://gate.example:443',
    'https://ｇａｔｅ.example',
    'https://ⓖate.example',
    'https://𝗀ate.example',
    'https://g%61te.example',
    'https://%67%61%74%65.example',
    'https://gate%2eexample',
    'https://gate。example',
    'https://gate．example',
    'https://ga\u00adte.example',
    'https://ga\u200bte.example',
    'https://gate.example%2e',
    'https://gate.example。',
  ])('%s', (origin) => {
    expect(classifyReference(`${origin}${CONTENT}`, PUBLIC_URL)).toEqual({ kind: 'own_content', taskId: 'task_1' });
    expect(classifyReference(`${origin}/ximg/vid_1.mp4`, PUBLIC_URL)).toEqual({ kind: 'own_object', object: 'vid_1' });
    expect(kindOf(`${origin}/v1/models`)).toBe('refused');
    expect(isOwnHost(new URL(origin), PUBLIC_URL)).toBe(true);
  });

  test.each(['?variant=thumbnail', '?', '#x', '?a=/../x#y', '?url=http://127.0.0.1/', '#/v1/videos/task_2/content'])(
    'with the suffix %s',
    (tail) => {
      expect(classifyReference(`${PUBLIC_URL}${CONTENT}${tail}`, PUBLIC_URL)).toEqual({
        kind: 'own_content',
        taskId: 'task_1',
      });
      expect(classifyReference(`${CONTENT}${tail}`, PUBLIC_URL)).toEqual({ kind: 'own_content', taskId: 'task_1' });
    },
  );

  test.each([
    '/v1/x/../videos/task_1/content',
    '/v1/./videos/task_1/content',
    '/v1/videos/task_2/../task_1/content',
    '/../v1/videos/task_1/content',
    '/v1/%2e%2e/v1/videos/task_1/content',
    '/v1/videos/%2E/task_1/content',
  ])('with dots in its path: %s', (path) => {
    expect(classifyReference(`${PUBLIC_URL}${path}`, PUBLIC_URL)).toEqual({ kind: 'own_content', taskId: 'task_1' });
    expect(kindOf(path)).toBe('refused');
  });

  test.each([
    '//v1/videos/task_1/content',
    '/v1//videos/task_1/content',
    '/v1/videos//task_1/content',
    '/v1/videos/task_1//content',
    '/v1/videos/task_1/content/',
    '/v1/videos/task_1/content.mp4',
    '/v1/videos/task_1/content;x',
    '/v1/videos/task_1/content%20',
    '/v1/videos/task_1/content%00',
    '/v1/videos/task_1%2fcontent',
    '/v1%2fvideos%2ftask_1%2fcontent',
    '/v1/videos/%74ask_1/content',
    '/%76%31/videos/task_1/content',
    '/v1/videos/..%2ftask_1/content',
    '/v1/videos/..%5ctask_1/content',
    '/v1/videos/%252e%252e/content',
    '/V1/videos/task_1/content',
    '/v1/Videos/task_1/content',
    '/v1/videos/task_1/CONTENT',
    '/v1/videos/task 1/content',
    '/v1/videos/täsk/content',
    '/v1/videos/*/content',
    '/v1/videos//content',
    `/v1/videos/${'x'.repeat(65)}/content`,
    '/ximg/vid_1',
    '/ximg/vid_1.',
    '/ximg/.mp4',
    '/ximg//vid_1.mp4',
    '/ximg/vid_1.mp4/',
    '/ximg/vid_1%2emp4',
    '/ximg/%76id_1.mp4',
    '/ximg/a%2fvid_1.mp4',
    '/ximg/..%2fblobs%2fx.mp4',
    '/ximg/vid_1.mp4.exe',
    '/XIMG/vid_1.mp4',
    '/ximg/vid_1.MP4',
    '/ximg/vid_1.mp4;x',
    '/ximg/vid_1.mp4%00',
    '/ximg/vid_1.mp4%3Fexp=1',
    '/ximg',
    '/bytes/vid_1',
    '/metrics',
    '/',
    '',
  ])('a path that names no result is refused and never requested: %s', (path) => {
    expect([kindOf(`${PUBLIC_URL}${path}`), kindOf(`http://gate.example.:80${path}`)]).toEqual(['refused', 'refused']);
    expect(kindOf(path)).toBe('refused');
  });

  test.each([
    'https://user@gate.example',
    'https://user:pass@gate.example',
    'https://@gate.example',
    'https://gate.example@gate.example',
    'https:gate.example',
    'https:/gate.example',
    'https:///gate.example',
    'https:\\\\gate.example',
    '//gate.example',
    'https://gate.example\\',
    ' https://gate.example',
    'https://gate.exa\tmple',
    '\\\\gate.example',
    '/\\gate.example',
    'ftp://gate.example',
    'ximg:',
    'blob:https://gate.example',
  ])('%s is refused', (origin) => {
    expect([kindOf(`${origin}${CONTENT}`), kindOf(`${origin}/ximg/vid_1.mp4`)]).toEqual(['refused', 'refused']);
  });
});

describe('an address that only resembles that of this service', () => {
  test.each([
    'https://gate.example.evil.example',
    'https://evil-gate.example',
    'https://www.gate.example',
    'https://gate-example.example',
    'https://gateexample',
    'https://gate.example:8443',
    'https://gate.example:8080',
    'https://gate.example.:8443',
    'https://gate.exampl',
    'https://gàte.example',
    'https://gаte.example',
    'https://evil.example/https://gate.example',
    'https://evil.example?https://gate.example',
    'https://evil.example#https://gate.example',
    'https://203.0.113.9',
  ])('%s is treated as any external address', (origin) => {
    expect(kindOf(`${origin}${CONTENT}`)).toBe('remote');
  });
});

describe('the public address of this service', () => {
  test.each([
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['https://xn--bcher-kva.example', 'https://BÜCHER.example'],
    ['http://203.0.113.9:8080', 'http://3405803785:8080'],
    ['http://203.0.113.9:8080', 'http://0xcb.0.0x71.011:8080'],
    ['http://[2001:db8::1]', 'http://[2001:0DB8:0:0:0:0:0:1]:80'],
    ['https://gate.example.', 'https://gate.example'],
    ['https://gate.example:8443', 'https://GATE.example.:8443'],
    ['https://gate.example:8443', 'http://gate.example:8443'],
    ['https://gate.example/base/', 'https://gate.example/x/../base'],
    ['https://gate.example/base', 'https://gate.example/%2e/base'],
  ])('%s is recognised in the spelling %s', (publicUrl, written) => {
    expect(classifyReference(`${written}${CONTENT}`, publicUrl)).toEqual({ kind: 'own_content', taskId: 'task_1' });
  });

  test.each([
    ['https://gate.example:8443', 'https://gate.example'],
    ['https://gate.example:8443', 'https://gate.example:443'],
    ['http://203.0.113.9:8080', 'http://203.0.113.9'],
  ])('%s differs from %s, because another port is another server', (publicUrl, written) => {
    expect(kindOf(`${written}${CONTENT}`, publicUrl)).toBe('remote');
  });

  test.each([
    'https://gate.example/v1/videos/task_1/content',
    'https://gate.example/basement/v1/videos/task_1/content',
    'https://gate.example/base/../v1/videos/task_1/content',
    'https://gate.example/base%2fv1/videos/task_1/content',
    'https://gate.example/BASE/v1/videos/task_1/content',
  ])('with a base path, %s names no result', (written) => {
    expect(kindOf(written, 'https://gate.example/base')).toBe('refused');
  });
});
