import { expect, test } from '@jest/globals';
import { readPrefix, toRoot, withoutPrefix } from './path-prefix.ts';

test.each([
  ['/', './'],
  ['/docs', './'],
  ['/docs/', '../'],
  ['/console/tasks/task_1', '../../'],
])('from the page %s the way to the root is %s', (path, root) => {
  expect(toRoot(path)).toBe(root);
  expect(new URL(`${root}x`, `https://host/gw${path}`).pathname).toBe('/gw/x');
});

test.each([
  ['https://host', ''],
  ['https://host/', ''],
  ['https://host/gw', '/gw'],
  ['https://host/a/b/', '/a/b'],
])('%s has the prefix %j', (url, prefix) => {
  expect(readPrefix(url)).toBe(prefix);
});

test.each([
  ['/gw/v1/videos?limit=1', '/gw', '/v1/videos?limit=1'],
  ['/gw', '/gw', '/'],
  ['/gw?a=1', '/gw', '/?a=1'],
  ['/v1/videos', '/gw', '/v1/videos'],
  ['/gwen/x', '/gw', '/gwen/x'],
  ['/x', '', '/x'],
])('of a request for %s behind %j the gateway serves %s', (url, prefix, path) => {
  expect(withoutPrefix(url, prefix)).toBe(path);
});
