import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import ts from 'typescript';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PRODUCT = /^(services|deploy)\/.*\.tsx?$/;
const NO_PRODUCT = /\.test\.tsx?$|\.d\.ts$|(^|\/)(testing|fixtures|golden|examples|gen)\//;

/** A function begins with a verb in its plain form. These are participles that no verb begins with. */
const PARTICIPLE =
  /^(?!(is|has|can|need|feed|seed|speed|embed|exceed|proceed|read|add|send|find|build|hold|shed|spend|bind)([A-Z]|$))([a-z]{2,}ed|shown|given|begun|taken|told|held|known|made|found|left|sent|gone|kept)([A-Z]|$)/;
/** A type is a noun. */
const PARTICIPLE_TYPE = /^([A-Z][a-z]+(ing|ed)|Begun|Given|Kept|Held|Made|Sent|Gone|Told|Shown|Found|Left|Tried)$/;
const QUESTION = /^(What|Whether|Why|Where|How|Which|When|Who|Whose)\b/;
/** A name of a function stands in at most this many files of one service, for it has one meaning there. */
const PLACES_MAX = 2;

/** Exceptions, each with its reason. */
const NOUNS: ReadonlyMap<string, string> = new Map([
  ['Billing', 'the service'],
  ['Binding', 'a noun of gRPC'],
  ['Decoding', 'a noun of the video standard'],
  ['Finding', 'a noun: what a check found'],
  ['Mapping', 'a noun'],
  ['Posting', 'a noun of bookkeeping'],
  ['Setting', 'a noun: a key of the configuration'],
  ['Scaling', 'a noun of the video standard'],
  ['Tracing', 'a noun of OpenTelemetry'],
  ['Wiring', 'a noun: how parts are connected'],
]);
const SAME_ROLE: ReadonlyMap<string, string> = new Map([
  ['page', 'each page of the console exports one'],
  ['classifyRefusal', 'each adapter reads the refusals of its upstream'],
  ['isRefusal', 'each adapter knows the refusals of its upstream'],
  ['buildSubmit', 'each adapter builds a submission'],
  ['buildTaskPath', 'each adapter names the path of its tasks'],
  ['readError', 'each adapter reads the error of its upstream'],
  ['readUsage', 'each adapter reads the measures of its upstream'],
  ['toContentItem', 'each adapter writes the content of an order'],
  ['toFailureReport', 'each adapter reads the failures of its upstream'],
  ['toListedWork', 'each adapter reads the list of its upstream'],
  ['toPollResult', 'each adapter reads the answer to a poll'],
  ['toReport', 'each adapter reads the reports of its upstream'],
  ['toSuccessReport', 'each adapter reads the results of its upstream'],
]);

interface Declared {
  readonly file: string;
  readonly name: string;
}

const git = ['-c', 'safe.directory=*', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'];
const sources = execFileSync('git', git, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 })
  .split('\0')
  .filter((file) => PRODUCT.test(file) && !NO_PRODUCT.test(file) && existsSync(path.join(ROOT, file)))
  .map((file) => ts.createSourceFile(file, readFileSync(path.join(ROOT, file), 'utf8'), ts.ScriptTarget.Latest, true));

const functions = sources.flatMap((source) =>
  source.statements.flatMap((statement) => listFunctions(source, statement)),
);
const types = sources.flatMap((source) =>
  source.statements
    .filter((statement) => ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement))
    .map((statement): Declared => ({ file: source.fileName, name: statement.name.text })),
);

function listFunctions({ fileName: file }: ts.SourceFile, statement: ts.Statement): Declared[] {
  if (ts.isFunctionDeclaration(statement)) return [{ file, name: statement.name?.text ?? 'default' }];
  if (!ts.isVariableStatement(statement)) return [];
  return statement.declarationList.declarations.flatMap(({ name, initializer }) =>
    initializer !== undefined &&
    (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer)) &&
    ts.isIdentifier(name)
      ? [{ file, name: name.text }]
      : [],
  );
}

const show = ({ file, name }: Declared): string => `${file}: ${name}`;

test('a function is named by a verb and its object, not by a relation such as faultOf', () => {
  expect(functions.filter(({ name }) => /[a-z]Of$/.test(name)).map(show)).toEqual([]);
});

test('a function does not begin with a participle such as served or bounded', () => {
  expect(functions.filter(({ name }) => PARTICIPLE.test(name)).map(show)).toEqual([]);
});

test('a type is named by a noun, not by a participle such as Making or Tried', () => {
  const participles = types.filter(({ name }) => PARTICIPLE_TYPE.test(name) && !NOUNS.has(name));

  expect(participles.map(show)).toEqual([]);
});

test(`a name of a function stands in at most ${PLACES_MAX} files of a service, or means the same in parallel files`, () => {
  const places = Map.groupBy(functions, ({ file, name }) => `${file.split('/').slice(0, 2).join('/')}: ${name}`);
  const repeated = [...places].filter(
    ([, declared]) =>
      new Set(declared.map(({ file }) => file)).size > PLACES_MAX && !SAME_ROLE.has(declared[0]?.name ?? ''),
  );

  expect(repeated.map(([name, declared]) => `${name}: ${declared.map(({ file }) => file).join(', ')}`)).toEqual([]);
});

test('a doc comment is a sentence with a verb or a noun phrase, not an indirect question', () => {
  const questions = sources.flatMap(({ fileName, text }) =>
    [...text.matchAll(/\/\*\*([\s\S]*?)\*\//g)]
      .map(([, body = '']) => body.replace(/^[\s*]+/, ''))
      .filter((body) => QUESTION.test(body))
      .map((body) => `${fileName}: ${body.slice(0, 80)}`),
  );

  expect(questions).toEqual([]);
});

test('every exception of the names is still needed', () => {
  const used = new Set([...types, ...functions].map(({ name }) => name));

  expect([...NOUNS.keys(), ...SAME_ROLE.keys()].filter((name) => !used.has(name))).toEqual([]);
});
