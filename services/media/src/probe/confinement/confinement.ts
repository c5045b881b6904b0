import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Log } from '@reelgate/platform/log';

const PROGRAM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];
const TRY_MS = 5000;
/**
 * Namespaces without a network and with separate queues between processes. A user namespace is best: in it the process
 * can read neither the memory nor the environment of processes outside. Machines differ in what they allow.
 */
const NAMESPACES: readonly (readonly string[])[] = [
  ['--user', '--map-current-user', '--net', '--ipc'],
  ['--user', '--map-root-user', '--net', '--ipc'],
  ['--net', '--ipc'],
];
/** No new privileges, an end with the parent process, and no capabilities of root. */
const PRIVILEGES: readonly (readonly string[])[] = [
  ['--no-new-privs', '--pdeathsig', 'KILL', '--inh-caps=-all', '--bounding-set=-all'],
  ['--no-new-privs', '--pdeathsig', 'KILL'],
];

/** The prefix of a command that confines it. */
export interface Confinement {
  readonly prefix: readonly string[];
  readonly hasNetwork: boolean;
  /** The shell that sets limits; undefined: there is none. */
  readonly shell: string | undefined;
}

/** `findConfinement`, called once. */
export function confinementOnce(log: Log): () => Promise<Confinement> {
  let found: Promise<Confinement> | undefined;
  return () => (found ??= findConfinement(log));
}

/** Finds the confinement that this machine allows, and logs what is missing. */
export async function findConfinement(log: Log): Promise<Confinement> {
  if (process.platform !== 'linux') {
    log.warn(
      { platform: process.platform },
      'parsers have network access, and limits of heap and time only: this system has no others',
    );
    return { prefix: [], hasNetwork: true, shell: undefined };
  }
  const namespaces = await firstThatWorks('unshare', NAMESPACES);
  if (namespaces === undefined) log.warn({}, 'parsers have network access: this machine allows no network namespace');
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
