import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Log } from '@reelgate/platform/log';

const PROGRAM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];
const TRY_MS = 5000;
/**
 * Another network, in which there is none, and other queues between processes; best with another set of users, in which the process has no right over those outside: it can
 * neither read their memory nor their environment. Which of them is allowed differs from machine to machine.
 */
const NAMESPACES: readonly (readonly string[])[] = [
  ['--user', '--map-current-user', '--net', '--ipc'],
  ['--user', '--map-root-user', '--net', '--ipc'],
  ['--net', '--ipc'],
];
/** No new rights by any program, an end with the process that started it, and the rights of root given away. */
const PRIVILEGES: readonly (readonly string[])[] = [
  ['--no-new-privs', '--pdeathsig', 'KILL', '--inh-caps=-all', '--bounding-set=-all'],
  ['--no-new-privs', '--pdeathsig', 'KILL'],
];

/** What stands before a command so that it runs with less. */
export interface Confinement {
  readonly prefix: readonly string[];
  readonly hasNetwork: boolean;
  /** Whether the shell can set limits for it. */
  readonly shell: string | undefined;
}

/** `findConfinement`, once for all who ask. */
export function confinementOnce(log: Log): () => Promise<Confinement> {
  let found: Promise<Confinement> | undefined;
  return () => (found ??= findConfinement(log));
}

/** Tries what this machine allows, and says so where it allows less than is wanted. */
export async function findConfinement(log: Log): Promise<Confinement> {
  if (process.platform !== 'linux') {
    log.warn(
      { platform: process.platform },
      'parsers have the network, and no limits but those of their memory and time: this system has no others',
    );
    return { prefix: [], hasNetwork: true, shell: undefined };
  }
  const namespaces = await firstThatWorks('unshare', NAMESPACES);
  if (namespaces === undefined)
    log.warn({}, 'parsers run in the network of the machine: it allows no namespace of their own');
  const privileges = await firstThatWorks('setpriv', PRIVILEGES);
  return {
    prefix: [...(namespaces ?? []), ...(privileges ?? [])],
    hasNetwork: namespaces === undefined,
    shell: programOf('sh'),
  };
}

async function firstThatWorks(
  name: string,
  choices: readonly (readonly string[])[],
): Promise<readonly string[] | undefined> {
  const program = programOf(name);
  const nothing = programOf('true');
  if (program === undefined || nothing === undefined) return undefined;
  for (const options of choices) {
    try {
      await promisify(execFile)(program, [...options, '--', nothing], { env: {}, timeout: TRY_MS });
      return [program, ...options, '--'];
    } catch {
      continue;
    }
  }
  return undefined;
}

function programOf(name: string): string | undefined {
  return PROGRAM_FOLDERS.map((folder) => path.join(folder, name)).find((program) => {
    try {
      accessSync(program, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
