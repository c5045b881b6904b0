import { describe, expect, test } from '@jest/globals';
import { Secret, deriveSecret, acceptOnly } from '@reelgate/platform/secret';
import { signName } from '@reelgate/platform/signatures';
import { callbackUrls } from './upstream-urls.ts';

const key = new Secret('signing key');
const { buildUrl: urlOf, readAttempt: attemptOf } = callbackUrls('https://gateway.example', acceptOnly(key));
const tokenOf = (url: string): string => url.slice(url.lastIndexOf('/') + 1);

describe('the callback address of an attempt', () => {
  test('identifies the attempt, and differs for each attempt of each task', () => {
    const attempts = [
      { taskId: 'task_1', number: 1 },
      { taskId: 'task_1', number: 16 },
      { taskId: 'task_2', number: 1 },
    ];
    const urls = attempts.map(urlOf);

    expect(new Set(urls).size).toBe(3);
    expect(urls.map((url) => attemptOf(tokenOf(url)))).toEqual(attempts);
    for (const url of urls) expect(url).toMatch(/^https:\/\/gateway\.example\/callbacks\/[\w.-]+$/);
  });

  test.each<[string, string]>([
    ['another task', tokenOf(urlOf({ taskId: 'task_1', number: 1 })).replace('task_1', 'task_2')],
    ['another attempt', tokenOf(urlOf({ taskId: 'task_1', number: 1 })).replace('.1.', '.2.')],
    ['the key that signs links', signName(key, 'task_1.1')],
    ['a name of another form', signName(deriveSecret(key, 'upstream-callbacks'), 'task_1')],
    ['no signature', 'task_1.1.'],
    ['nothing', ''],
  ])('is invalid with %s', (_what, token) => {
    expect(attemptOf(token)).toBeUndefined();
  });
});
