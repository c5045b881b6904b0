import { expect, test } from '@jest/globals';
import { parseTarget, targetSchema } from './target.ts';
import type { TargetEntry } from './target.ts';

const hasPattern = (entry: TargetEntry): boolean =>
  typeof entry !== 'string' || new RegExp(targetSchema.pattern, 'u').test(entry);

test.each<[TargetEntry, string, readonly string[]]>([
  ['127.0.0.1:9101', '127.0.0.1:9101', ['127.0.0.1']],
  ['[::1]:9101', '[::1]:9101', ['::1']],
  ['dns:9101', 'dns:9101', ['dns']],
  ['dns:tasks:9101', 'dns:tasks:9101', ['tasks']],
  ['dns:///tasks.reelgate.svc.:9101', 'dns:///tasks.reelgate.svc.:9101', ['tasks.reelgate.svc.']],
  ['dns:///[::1]:9101', 'dns:///[::1]:9101', ['::1']],
  ['ipv4:10.0.0.1:1,10.0.0.2:2', 'ipv4:10.0.0.1:1,10.0.0.2:2', ['10.0.0.1', '10.0.0.2']],
  ['ipv6:[::1]:1,[::2]:2', 'ipv6:[::1]:1,[::2]:2', ['::1', '::2']],
  ['unix:/run/tasks.sock', 'unix:/run/tasks.sock', []],
  [['10.0.0.1:1', '10.0.0.2:2'], 'ipv4:10.0.0.1:1,10.0.0.2:2', ['10.0.0.1', '10.0.0.2']],
  [['[::1]:1', '[::2]:2'], 'ipv6:[::1]:1,[::2]:2', ['::1', '::2']],
  [['10.0.0.1:1'], 'ipv4:10.0.0.1:1', ['10.0.0.1']],
])('%j is the target %s', (entry, target, hosts) => {
  const parsed = parseTarget(entry);
  expect(parsed).toMatchObject({ target, hosts });
  expect(parsed?.addresses.map(({ host }) => host)).toEqual(hosts);
  expect(hasPattern(entry)).toBe(true);
});

test('a target can name its name server', () => {
  expect(parseTarget('dns://10.0.0.10:53/tasks.:9101')).toEqual({
    target: 'dns://10.0.0.10:53/tasks.:9101',
    hosts: ['tasks.'],
    addresses: [{ host: 'tasks.', port: 9101 }],
    nameServer: '10.0.0.10:53',
  });
});

test.each<[TargetEntry]>([
  [''],
  ['tasks'],
  ['tasks:65536'],
  ['dns:///tasks'],
  ['dns:///tasks:65536'],
  ['dns:///a:1,b:2'],
  ['dns://tasks:9101'],
  ['http://tasks:9101'],
  ['xds:///tasks'],
  ['ipv4:tasks:1'],
  ['ipv4:[::1]:1'],
  ['ipv6:10.0.0.1:1'],
  ['ipv4:10.0.0.1'],
  ['10.0.0.1:1,10.0.0.2:2'],
  [['tasks-1:9101', 'tasks-2:9101']],
  [['10.0.0.1:1', '[::1]:1']],
  [['10.0.0.1:1', '10.0.0.2']],
  [[]],
])('%j is not a target', (entry) => {
  expect(parseTarget(entry)).toBeUndefined();
});
