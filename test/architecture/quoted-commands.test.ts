import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { COMMANDS } from '../../deploy/cli/command-table.ts';
import { parseCall } from '../../deploy/cli/parse-call.ts';
import type { ParsedCall } from '../../deploy/cli/parse-call.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** The code whose advice an operator reads. */
const ADVISERS = /^(deploy\/(cli\/doctor|program\/diagnosis)\/|services\/[a-z]+\/src\/.*checks?).*(?<!\.test)\.ts$/;

const FENCED = /^(`{3,})[^\n]*\n(.*?)^\1$/gms;
const SPAN = /`([^`]+)`/g;
/** The command line as a document calls it: alone, through npm, or in a pod. */
const CALL = /^(?:\$ )?(?:npm run -s reelgate --|kubectl [^\n]* -- reelgate|reelgate)(?= |$)(.*)$/;
/** In code, a command ends with its string or with the next one. */
const ADVISED = /\breelgate ([a-z](?:\$\{[^}]*\}|[^'"`;,\n$])*)/g;
/** The words of a call, as a shell splits them. */
const WORD = /"([^"]*)"|'([^']*)'|([^\s"']+)/g;
/** Stands for a value, such as `ID` or `DIR`. */
const PLACEHOLDER = /^(?:[A-Z][A-Z_:]*|\$\{.*|X)$/;

/** Named as lines of a log. */
const LOG_LINES: ReadonlySet<string> = new Set(['a pass failed', 'an address sends wrong keys', 'spans were dropped']);

interface Quote {
  readonly file: string;
  /** The words after the name of the program. */
  readonly call: string;
}

const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

/** The calls in code blocks and in code spans, also in those that cross the end of a line. */
function listCalls(document: string): readonly string[] {
  const blocks = [...document.matchAll(FENCED)].flatMap(([, , body = '']) => body.replaceAll('\\\n', ' ').split('\n'));
  const spans = [...document.replaceAll(FENCED, '').matchAll(SPAN)].map(([, span = '']) => span.replaceAll('\n', ' '));
  return [...blocks, ...spans].flatMap((text) => {
    const [, call] = CALL.exec(text.trim()) ?? [];
    return call === undefined
      ? []
      : listAlternatives(
          call
            .replace(/\s#.*$/, '')
            .replace(/\s+/g, ' ')
            .trim(),
        );
  });
}

/** `[--check]` may be left out, `a|b` is one of the two, and `…` stands for any command. */
function listAlternatives(call: string): readonly string[] {
  const plain = call.replace(/[[\]]/g, '').replace(/ ?…$/, '');
  const [choice] = /\S+\|\S+/.exec(plain) ?? [];
  return choice === undefined ? [plain] : choice.split('|').map((one) => plain.replace(choice, one));
}

/** Says what is wrong with a call; undefined: nothing. */
function findFault(call: string): string | undefined {
  const words = [...call.matchAll(WORD)].map(([, double, single, bare]) => double ?? single ?? bare ?? '');
  const group = `${words.join(' ')} `;
  if (words.length < 2 && Object.keys(COMMANDS).some((name) => name.startsWith(group))) return undefined;
  try {
    const { name, words: rest, options, wantsHelp } = parseCall(words, COMMANDS);
    if (name === undefined) return wantsHelp || words.length === 0 ? undefined : 'names no command';
    return findUnknown(name, rest[0], options);
  } catch (error) {
    return (error as Error).message;
  }
}

/** Names an option that the command does not have, and a value that it does not take. */
function findUnknown(name: string, first: string | undefined, options: ParsedCall['options']): string | undefined {
  const { options: known, choices } = COMMANDS[name]!;
  const unknown = Object.keys(options).filter((option) => known[option] === undefined);
  if (unknown.length > 0) return `${name} has no option --${unknown.join(', --')}`;
  const values = Object.entries(options).map(([option, value]) => [option, value, known[option]?.choices] as const);
  const taken = first === undefined ? values : [['', first, choices] as const, ...values];
  const wrong = taken.find(
    ([, value, allowed]) => allowed?.includes(String(value)) === false && !PLACEHOLDER.test(String(value)),
  );
  return wrong === undefined ? undefined : `${name} does not take ${`${wrong[0]} ${String(wrong[1])}`.trim()}`;
}

const inDocuments: readonly Quote[] = files
  .filter((file) => file.endsWith('.md'))
  .flatMap((file) => listCalls(read(file)).map((call) => ({ file, call })));
const inAdvice: readonly Quote[] = files
  .filter((file) => ADVISERS.test(file))
  .flatMap((file) => [...read(file).matchAll(ADVISED)].map(([, call = '']) => ({ file, call: call.trim() })));

const listFaults = (quotes: readonly Quote[]): readonly string[] =>
  quotes.flatMap(({ file, call }) => {
    const fault = findFault(call);
    return fault === undefined ? [] : [`${file}: reelgate ${call}: ${fault}`];
  });

test('every command of the documents exists, with its options', () => {
  expect(inDocuments.length).toBeGreaterThan(100);
  expect(listFaults(inDocuments)).toEqual([]);
});

test('every command that the doctor advises exists, with its options', () => {
  expect(inAdvice.length).toBeGreaterThan(10);
  expect(listFaults(inAdvice)).toEqual([]);
});

test('every line of the doctor that the runbook names is one that a part of the program tells', () => {
  const told = files
    .filter((file) => /^(services\/[a-z]+\/src|deploy)\/.*(?<!\.test)\.ts$/.test(file))
    .flatMap((file) => [...read(file).matchAll(/\bpart: ['`]([^'`$]+)/g)].map(([, part = '']) => part));
  // `calls to …` stands for the line of each service
  const named = [...read('deploy/README.md').matchAll(/\blines? ((?:`[^`]+`(?:, | and | or )?)+)/g)].flatMap(
    ([, names = '']) => [...names.matchAll(SPAN)].map(([, name = '']) => name.replace('…', '')),
  );

  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !told.includes(name) && !LOG_LINES.has(name))).toEqual([]);
});

describe('a quoted command', () => {
  test.each([
    ['`reelgate task show ID`', ['task show ID']],
    ['`npm run -s reelgate -- --help`', ['--help']],
    ['as `reelgate keys derive\n--service NAME` prints', ['keys derive --service NAME']],
    ['```\nreelgate doctor   # the first step\n$ reelgate account \\\n  list\n```', ['doctor', 'account list']],
    ['`kubectl -n reelgate exec deployment/gateway -- reelgate doctor`', ['doctor']],
    ['`reelgate migrate SERVICE [--check]`', ['migrate SERVICE --check']],
    ['`reelgate webhook list|show ID`', ['webhook list ID', 'webhook show ID']],
    ['`reelgate …` and `kubectl get pods -n reelgate`', ['']],
  ])('of %j is %j', (document, calls) => {
    expect(listCalls(document)).toEqual(calls);
  });

  test.each([
    ['task show ID', undefined],
    ['webhook', undefined],
    ['attention resolve ID --as completed', undefined],
    ['migrate SERVICE --check', undefined],
    ['profile SERVICE --cpu 10s --out FILE', undefined],
    ['task frobnicate', 'unknown command task frobnicate'],
    ['task list --stat failed', 'unknown option --stat'],
    ['task list --reason TEXT', 'task list has no option --reason'],
    ['task list --state done', 'task list does not take state done'],
    ['profile nothing --cpu 1s', 'profile does not take nothing'],
  ])('%j has the fault %j', (call, fault) => {
    if (fault === undefined) expect(findFault(call)).toBeUndefined();
    else expect(findFault(call)).toContain(fault);
  });
});
