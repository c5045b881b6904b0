import { randomBytes, randomInt } from 'node:crypto';

const firstTaskId = 400_000_000_000_000;
const taskIds = 100_000_000_000_000;

/** An id of fifteen digits, like the vendor's. */
export function newTaskId(): string {
  return String(firstTaskId + randomInt(taskIds));
}

export function newToken(): string {
  return randomBytes(16).toString('hex');
}
