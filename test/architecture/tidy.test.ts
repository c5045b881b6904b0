import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = path.resolve(import.meta.dirname, '../..');

const KEBAB_CASE = /^\.?[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/;
/** A golden reply has the name of the operation that it answers. */
const GOLDEN_REPLY = /^services\/gateway\/golden\/replies\//;
/** Names that other tools fix: documents, images, contracts (buf requires snake_case) and numbered migrations. */
const OTHER_NAMES = new RegExp(
  [
    String.raw`^(README|LICENSE|NOTICE|CHANGELOG|CONTRIBUTING|SECURITY|SKILL)(\.md)?$`,
    String.raw`^Dockerfile(\.dockerignore)?$`,
    String.raw`^[a-z0-9_]+\.proto$`,
    String.raw`^[a-z0-9_]+_pb\.(d\.ts|js)$`,
    String.raw`^\d{4}_[a-z0-9_]+\.sql$`,
  ].join('|'),
);
/** Names that say nothing about the content, alone or as a part of a longer name. */
const EMPTY_NAMES = /^(common|misc|types|constants|shared)$|(^|-)(utils?|helpers?)(-|$)/;

/** The words of the glossary that have no other use in a program. The platform must not know them. */
const TRADE_WORDS = new RegExp(
  String.raw`\b(tasks?|dialects?|(?<!get )channels?(?! credentials)|(?<!reconnect )attempts?|settlements?|price ?contracts?|holds?` +
    String.raw`|staged ?media|regenerations?|context.?ir)\b`,
  'i',
);

interface DroppedWord {
  /** A pattern over separate words: `ModelKind`, `model_kind` and `model-kind` are read as `model kind`. */
  readonly dropped: string;
  readonly used: string;
  /** A line with another, permitted use of the word. */
  readonly except?: RegExp;
}

/** The words that are not used. `proto/glossary.md` has the word for each thing. */
const DROPPED_WORDS: readonly DroppedWord[] = [
  { dropped: 'berths?', used: 'channel runtime' },
  { dropped: 'fleets?', used: 'channel registry' },
  { dropped: 'vigils?', used: 'process liveness, heartbeat' },
  { dropped: 'rosters?', used: 'active set' },
  { dropped: 'gather(s|ed|ing|ers?)?', used: 'batch, batcher, collect' },
  { dropped: 'tally|tallies', used: 'counter' },
  { dropped: 'spreads(?! (it|the|their))', used: 'histogram' },
  { dropped: 'slots?|session places|in turn\\(|open turns', used: 'permit of a semaphore' },
  { dropped: 'crews?', used: 'worker pool' },
  { dropped: 'waiting rooms?', used: 'queue' },
  { dropped: 'enders?', used: 'the operation by its name' },
  { dropped: 'weather', used: 'load' },
  { dropped: 'heed(s|ed|ing)?', used: 'handle' },
  { dropped: 'happenings?', used: 'event' },
  { dropped: 'posters?|key pictures?', used: 'thumbnail, key frame', except: /'poster'/ },
  { dropped: '(a|the) stills?', used: 'thumbnail', except: /still (picture|image)/ },
  { dropped: 'stor(y|ies)', used: 'record, history' },
  { dropped: 'askers?|those who|whoever|nobody', used: 'the subject by its name', except: /'nobody'/ },
  { dropped: 'so many', used: 'the number or the unit' },
];

const LINES_MEDIAN_MAX = 100;
/** A published migration keeps its name. */
const MIGRATION = /\/migrations\/\d{4}_/;
const DOCUMENT = /(^|\/)(README|CONTRIBUTING|SECURITY|CHANGELOG)\.md$/;
const TEXT = /\.(tsx?|js|mjs|cjs|json|ya?ml|md|sql|proto|sh)$|Dockerfile$|^\.ci\//;
const UNFINISHED = /\b(TODO|FIXME)\b/;
/** The host of a package registry. Each machine has its own registry, so the repository names none. */
const REGISTRY_HOST = /\b(registry|npm|packages?)\.[a-z0-9-]+\.(org|com|io|net|dev|local|internal)\b/;
const REASONLESS_DISABLE = /eslint-disable(?!.* -- \S)/;

const git = ['-c', 'safe.directory=*', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'];
const files = execFileSync('git', git, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 })
  .split('\0')
  .filter((file) => file !== '' && existsSync(path.join(ROOT, file)));
const written = files.filter((file) => !file.startsWith('proto/gen/'));
const itself = path.relative(ROOT, import.meta.filename);
const texts = written.filter((file) => TEXT.test(file) && file !== itself);
const products = written.filter(
  (file) => /^(services\/[^/]+\/src|deploy)\/.*\.ts$/.test(file) && !/\.test\.ts$|\/testing\//.test(file),
);

const linesOf = (file: string): string[] => readFileSync(path.join(ROOT, file), 'utf8').split('\n');

function linesThatMatch(among: readonly string[], pattern: RegExp): string[] {
  return among.flatMap((file) =>
    linesOf(file).flatMap((line, at) =>
      pattern.test(line) ? [`${file}:${at + 1}: ${line.trim().slice(0, 120)}`] : [],
    ),
  );
}

/**
 * `ModelKind`, `model_kind` and `model-kind` as `Model Kind` and `model kind`, so that a word is found within a name.
 */
const inWords = (line: string): string => line.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/[_-]/g, ' ');

test('every file and folder has a kebab-case name', () => {
  const odd = written
    .filter((file) => !GOLDEN_REPLY.test(file))
    .filter((file) => file.split('/').some((name) => !KEBAB_CASE.test(name) && !OTHER_NAMES.test(name)));

  expect(odd).toEqual([]);
});

test('no file or folder has a name that says nothing', () => {
  const empty = written.filter((file) => file.split('/').some((name) => EMPTY_NAMES.test(name.split('.', 1)[0]!)));

  expect(empty).toEqual([]);
});

test('the platform has no word of this product', () => {
  const platform = products.filter((file) => file.startsWith('services/platform/src/'));
  const said = platform.flatMap((file) =>
    linesOf(file)
      .filter((line) => TRADE_WORDS.test(inWords(line)))
      .map((line) => `${file}: ${line.trim()}`),
  );

  expect(said).toEqual([]);
});

test(`the median product file has fewer than ${LINES_MEDIAN_MAX} lines`, () => {
  const lengths = products.map((file) => linesOf(file).length).sort((a, b) => a - b);

  expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThan(LINES_MEDIAN_MAX);
});

test('product code, file names and documents use one word for one thing', () => {
  const spoken = [...products, ...written.filter((file) => DOCUMENT.test(file))];
  const lines = spoken.flatMap((file) => linesOf(file).map((line, index) => ({ at: `${file}:${index + 1}`, line })));
  const names = written.filter((file) => !MIGRATION.test(file)).map((file) => ({ at: file, line: file }));
  const found = DROPPED_WORDS.flatMap(({ dropped, used, except }) => {
    const word = new RegExp(`\\b(${dropped})(?![a-z])`, 'i');
    return [...lines, ...names]
      .filter(({ line }) => word.test(inWords(line)) && except?.test(line) !== true)
      .map(({ at, line }) => `${at}: ${line.trim().slice(0, 100)} (use: ${used})`);
  });

  expect(found).toEqual([]);
});

test('no comment leaves work for later', () => {
  expect(linesThatMatch(texts, UNFINISHED)).toEqual([]);
});

test('no file names a package registry, and the lock file names none either', () => {
  expect(linesThatMatch(texts, REGISTRY_HOST)).toEqual([]);
  expect(linesThatMatch(['package-lock.json'], /"resolved": "http/)).toEqual([]);
});

test('a disabled lint rule has a reason', () => {
  expect(linesThatMatch(texts, REASONLESS_DISABLE)).toEqual([]);
});
