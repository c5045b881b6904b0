import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Who a server is run as when the tests are run by root, which PostgreSQL refuses; undefined for every other user. */
export function unprivilegedUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const [, uid = '65534', gid = '65534'] =
    /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

/** Whether every user may enter a folder, which takes the right to enter each one above it. */
export function isOpenToAll(folder: string): boolean {
  const parent = path.dirname(folder);
  return (statSync(folder).mode & 0o001) !== 0 && (parent === folder || isOpenToAll(parent));
}
