import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { openDraws } from './draws.ts';
import { openSimulatedLog } from './simulated-log.ts';
import { writeSomePages } from './written-pages.ts';

const draws = openDraws(1);
const CUTS = 40;
const root = mkdtempSync(path.join(tmpdir(), 'reelgate-simulated-log-'));
let folders = 0;
let file: string;
let database: DatabaseSync;
beforeEach(() => {
  folders += 1;
  file = path.join(root, `${folders}.sqlite`);
  database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0');
  database.exec('CREATE TABLE rows (number INTEGER, text TEXT)');
});
afterAll(() => rmSync(root, { recursive: true }));

const openLog = () => openSimulatedLog(() => `${file}-wal`);
const addRows = (from: number, to: number): void => {
  for (let number = from; number <= to; number += 1)
    database.prepare('INSERT INTO rows VALUES (?, ?)').run(number, String(number).repeat(1500));
};

/** The rows of a database after a power cut that left these files. */
function readRowsAfterCut(name: string, log: Buffer, content: Buffer = readFileSync(file)): number[] {
  const left = path.join(root, `${name}.sqlite`);
  writeFileSync(left, content);
  writeFileSync(`${left}-wal`, log);
  const after = new DatabaseSync(left);
  expect(after.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
  const rows = after.prepare('SELECT number FROM rows ORDER BY number').all();
  after.close();
  return rows.map(({ number }) => Number(number));
}

const countTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

test('the end of a log that SQLite began is the end of its last frame', () => {
  const log = openLog();
  addRows(1, 5);

  expect(log.findEnd().end).toBe(statSync(`${file}-wal`).size);
});

test('the end of a log that SQLite has begun anew comes before the old frames that it still has', () => {
  const log = openLog();
  addRows(1, 20);
  const before = log.findEnd();
  database.exec('PRAGMA wal_checkpoint(PASSIVE)');
  addRows(21, 21);

  const { salt, end } = log.findEnd();
  expect(salt).not.toBe(before.salt);
  expect(end).toBeLessThan(before.end);
  expect(statSync(`${file}-wal`).size).toBe(before.end);
});

test('after a power cut a log goes on behind the last commit that the disk has', () => {
  const log = openLog();
  addRows(1, 3);
  const { end } = log.findEnd();
  addRows(4, 4);
  const left = path.join(root, 'torn.sqlite');
  copyFileSync(file, left);
  writeFileSync(`${left}-wal`, readFileSync(`${file}-wal`).subarray(0, log.findEnd().end - 1));
  const torn = openSimulatedLog(() => `${left}-wal`);
  expect(torn.findEnd().end).toBe(end);

  const after = new DatabaseSync(left);
  after.exec('INSERT INTO rows VALUES (4, 4)');

  expect(torn.findEnd().end).toBeGreaterThan(end);
  after.close();
});

test.each([
  ['in order', false],
  ['in any order', true],
])(
  'a power cut of pages that are written %s leaves every synced row, and no row after a lost one',
  (_how, scattered) => {
    const log = openLog();
    addRows(1, 8);
    database.exec('PRAGMA wal_checkpoint(PASSIVE)');
    log.syncAll();
    addRows(9, 12);
    log.sync(log.findEnd());
    addRows(13, 24);

    const lasts = new Set<number>();
    for (let cut = 1; cut <= CUTS; cut += 1) {
      const { bytes } = log.cut(`cut ${cut}`, { draws, isScattered: scattered });
      const rows = readRowsAfterCut(`${folders}-${cut}`, bytes);
      expect(rows).toEqual(countTo(rows.length));
      expect(rows.length).toBeGreaterThanOrEqual(12);
      lasts.add(rows.length);
    }
    expect(lasts.size).toBeGreaterThan(1);
  },
);

test('a power cut in the copy of a log into its database loses no row, because the log has them all', () => {
  const log = openLog();
  addRows(1, 30);
  const before = readFileSync(file);
  const saved = path.join(root, 'saved-wal');
  database.exec('PRAGMA wal_checkpoint(PASSIVE)');
  log.syncAll();
  copyFileSync(`${file}-wal`, saved);
  const after = readFileSync(file);

  let torn = 0;
  for (let cut = 1; cut <= CUTS; cut += 1) {
    const content = writeSomePages(draws, `cut ${cut}`, { before, after, from: 0 });
    if (!content.equals(before) && !content.equals(after)) torn += 1;
    expect(readRowsAfterCut(`${folders}-${cut}`, readFileSync(saved), content)).toEqual(countTo(30));
  }
  expect(torn).toBeGreaterThan(0);
});
