import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** The user who runs a server if root runs the tests, because PostgreSQL refuses root; undefined for any other user. */
export function unprivilegedUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const [, uid = '65534', gid = '65534'] =
    /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

/** Whether every user may enter a folder and all folders above it. */
export function isOpenToAll(folder: string): boolean {
  const parent = path.dirname(folder);
  return (statSync(folder).mode & 0o001) !== 0 && (parent === folder || isOpenToAll(parent));
}
