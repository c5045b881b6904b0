import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const ROOT = path.resolve(import.meta.dirname, '../..');
const BUF = path.join(ROOT, 'node_modules/.bin/buf');
const TASK = 'reelgate/tasks/v1/task.proto';
const SERVICE = 'reelgate/tasks/v1/task_service.proto';

let folder: string;
let released: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-contracts-'));
  released = path.join(folder, 'released.binpb');
  cpSync(path.join(ROOT, 'proto/reelgate'), path.join(folder, 'proto/reelgate'), { recursive: true });
  cpSync(path.join(ROOT, 'proto/buf.yaml'), path.join(folder, 'proto/buf.yaml'));
  buf('build', '-o', released);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function buf(...args: readonly string[]): void {
  execFileSync(BUF, args, { cwd: path.join(folder, 'proto'), stdio: 'pipe' });
}

/** What the check says of the contracts with one change, compared with those without it. */
function faultsOf(file: string, before: string | RegExp, after: string): string {
  const at = path.join(folder, 'proto', file);
  const text = readFileSync(at, 'utf8');
  const changed = text.replace(before, after);
  expect(changed).not.toBe(text);
  writeFileSync(at, changed);
  try {
    buf('breaking', '--against', released);
    return '';
  } catch (error) {
    return String((error as { stdout?: Buffer }).stdout);
  } finally {
    writeFileSync(at, text);
  }
}

const FIELD = '  int64 bytes = 3;';
const VALUE = '  TASK_STATE_FAILED = 4;';
const RPC = /  rpc GetTask\(GetTaskRequest\) returns \(GetTaskResponse\) \{[^}]*\};\n  \}\n/;

describe('after a release the check of the contracts refuses', () => {
  test.each<[string, string, string | RegExp, string]>([
    ['a field that is renamed', TASK, FIELD, '  int64 size = 3;'],
    ['a field that is removed', TASK, FIELD, ''],
    ['a field with another number', TASK, FIELD, '  int64 bytes = 300;'],
    ['a field with another type', TASK, FIELD, '  string bytes = 3;'],
    ['a field that is repeated from now on', TASK, FIELD, '  repeated int64 bytes = 3;'],
    ['an enum value that is renamed', TASK, VALUE, '  TASK_STATE_BROKEN = 4;'],
    ['an enum value with another number', TASK, VALUE, '  TASK_STATE_FAILED = 40;'],
    ['an RPC that is removed', SERVICE, RPC, ''],
    [
      'an RPC with another answer',
      SERVICE,
      'rpc GetTask(GetTaskRequest) returns (GetTaskResponse)',
      'rpc GetTask(GetTaskRequest) returns (ListTasksResponse)',
    ],
    [
      'an RPC that streams from now on',
      SERVICE,
      'rpc GetTask(GetTaskRequest) returns (GetTaskResponse)',
      'rpc GetTask(GetTaskRequest) returns (stream GetTaskResponse)',
    ],
    ['another place of the generated code', TASK, 'tasks/v1;tasksv1', 'tasks/one;tasksv1'],
  ])('%s', (_what, file, before, after) => {
    expect(faultsOf(file, before, after)).toContain(file);
  });
});

describe('after a release the check of the contracts accepts', () => {
  test.each<[string, string, string, string]>([
    ['a new field', TASK, FIELD, `${FIELD}\n  int64 frames = 900;`],
    ['a new enum value', TASK, VALUE, `${VALUE}\n  TASK_STATE_PAUSED = 5;`],
    [
      'a new RPC',
      SERVICE,
      '  rpc GetTask(',
      '  rpc PeekTask(GetTaskRequest) returns (GetTaskResponse);\n  rpc GetTask(',
    ],
    ['a field that is deprecated', TASK, FIELD, '  int64 bytes = 3 [deprecated = true];'],
  ])('%s', (_what, file, before, after) => {
    expect(faultsOf(file, before, after)).toBe('');
  });
});
