import { expect, test } from '@jest/globals';
import { describeMessages, judgeMessages } from './judge-messages.ts';
import { listLogMessages, readLogCalls } from './log-messages.ts';
import { RARE_MESSAGES, UNREACHED } from './unreached-messages.ts';

const FILE = 'services/some/src/file.ts';
const { messages, unread } = listLogMessages();

test('each line of a log has a level, a message, a file and a number', () => {
  const source = [
    "const LATE = 'a part ' + 'is late';",
    'deps.log.info({ taskId },',
    "  'a task moved');",
    "log.warn(fields, isFirst ? 'the first one' : LATE);",
  ].join('\n');

  expect(readLogCalls(FILE, source)).toEqual({
    messages: [
      { level: 'info', message: 'a task moved', file: FILE, line: 2 },
      { level: 'warn', message: 'the first one', file: FILE, line: 4 },
      { level: 'warn', message: 'a part is late', file: FILE, line: 4 },
    ],
    unread: [],
  });
});

test('a message that is no constant of its file is told, and other calls are none', () => {
  const source = "log.error({ err }, describe(err));\nawait client.info('server', options);";

  expect(readLogCalls(FILE, source)).toEqual({ messages: [], unread: [{ file: FILE, line: 1 }] });
});

test('each log call of the services has a constant message', () => {
  expect(unread).toEqual([]);
  expect(messages.length).toBeGreaterThan(150);
});

test('each message of the tables is one of the product, and stands in one of them', () => {
  expect(judgeMessages({ messages }, new Set()).unknown).toEqual([]);
  expect(Object.keys(UNREACHED).filter((message) => RARE_MESSAGES.has(message))).toEqual([]);
});

test('a message that does not appear is told with its place, and so is one that a table calls unreached', () => {
  const [unreached = ''] = Object.keys(UNREACHED);
  const said = new Set([...messages.map(({ message }) => message), unreached]);
  said.delete('a task was created');

  const described = describeMessages(judgeMessages({ messages }, said), 40);

  expect(described).toContainEqual(
    expect.stringMatching(
      /^ {2}info services\/tasks\/src\/operations\/creates\/create-task\.ts:\d+ a task was created$/,
    ),
  );
  expect(described).toContain(`  ${unreached}`);
  expect(described).not.toContain('each other log message has its reason');
});
