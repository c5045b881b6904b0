import { execFileSync } from 'node:child_process';

const SEED_MAX = 900_000_000;
const DAY_MS = 24 * 3600 * 1000;
/** More than a night of one machine runs, so that the nights of two days do not meet. */
const SEEDS_OF_A_DAY = 40_000;

/** Returns the short hash of the checked out commit, or `unknown` outside of a repository. */
export function readCommit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return 'unknown';
  }
}

/** Each commit has other seeds, and one commit always has the same: a commit that passes here passes elsewhere. */
export function computeCommitSeed(commit: string): number {
  return /^[0-9a-f]{7,}$/.test(commit) ? Number.parseInt(commit.slice(0, 7), 16) % SEED_MAX : computeDaySeed();
}

export function computeDaySeed(): number {
  return Math.floor(Date.now() / DAY_MS) * SEEDS_OF_A_DAY;
}
