import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = path.resolve(import.meta.dirname, '../..');
const LINK = /\]\((?<file>[^)\s#]*)(?:#(?<anchor>[^)\s]+))?\)/g;
const FENCE = /^```[\s\S]*?^```$/gm;
const HEADING = /^#{1,6} (?<text>.+)$/gm;

const git = ['-c', 'safe.directory=*', 'ls-files', '-z', '--cached', '--others', '--exclude-standard', '*.md'];
const pages = execFileSync('git', git, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 })
  .split('\0')
  .filter((file) => file !== '' && existsSync(path.join(ROOT, file)));

/** Names a heading as the viewers of the repository do: lower case, no punctuation, hyphens between the words. */
const toAnchor = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

function listAnchors(page: string): ReadonlySet<string> {
  const text = readFileSync(path.join(ROOT, page), 'utf8').replaceAll(FENCE, '');
  return new Set([...text.matchAll(HEADING)].map(({ groups }) => toAnchor(groups!['text']!)));
}

function findBrokenLinks(page: string): readonly string[] {
  const text = readFileSync(path.join(ROOT, page), 'utf8').replaceAll(FENCE, '');
  return [...text.matchAll(LINK)].flatMap(({ groups }) => {
    const [file, anchor] = [groups!['file']!, groups!['anchor']];
    if (/^[a-z]+:/.test(file)) return [];
    const target = file === '' ? page : path.normalize(path.join(path.dirname(page), file));
    if (!existsSync(path.join(ROOT, target))) return [`${page}: ${file} does not exist`];
    if (anchor === undefined || !target.endsWith('.md') || listAnchors(target).has(anchor)) return [];
    return [`${page}: ${file} has no heading #${anchor}`];
  });
}

test('every link between pages leads to a file, and to a heading that it has', () => {
  expect(pages.flatMap(findBrokenLinks)).toEqual([]);
});
