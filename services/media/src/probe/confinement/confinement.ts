import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Log } from '@reelgate/platform/log';
import type { ConfinementLevel } from './levels.ts';

const PROGRAM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];
const TRY_MS = 5000;
/**
 * Namespaces without a network and with separate queues between processes. A user namespace is best: in it the process
 * can read neither the memory nor the environment of processes outside. Machines differ in the namespaces that they
 * allow.
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
const LAUNCHER = fileURLToPath(new URL('confine.pl', import.meta.url));
/** The folders of programs and their libraries: an ffmpeg can be a script. No service keeps a file in them. */
const SYSTEM = ['/bin', '/lib', '/lib64', '/usr/bin', '/usr/lib', '/usr/lib64', '/usr/local/lib'];
const ALWAYS: readonly string[] = [
  ...SYSTEM.flatMap((folder) => ['--run', folder]),
  ...['/etc/ld.so.cache', '/etc/ssl/openssl.cnf', '/dev/urandom', '/dev/random'].flatMap((file) => ['--read', file]),
  ...['--write', '/dev/null'],
];

/** The prefix of a command that confines it. */
export interface Confinement {
  readonly level: ConfinementLevel;
  readonly prefix: readonly string[];
  /** Closes every file but the named ones. Undefined if the machine cannot do that. */
  readonly launcher: readonly string[] | undefined;
  readonly hasNetwork: boolean;
  /** The shell that sets limits, undefined if there is no shell. */
  readonly shell: string | undefined;
}

/** The files that a confined program may open. */
export interface OpenFiles {
  readonly readable: readonly string[];
  readonly writable: readonly string[];
}

/** `findConfinement`, called once. */
export function confinementOnce(log: Log): () => Promise<Confinement> {
  let found: Promise<Confinement> | undefined;
  return () => (found ??= findConfinement(log));
}

/** Finds the confinement that this machine allows, and logs it with the parts that are missing. */
export async function findConfinement(log: Log): Promise<Confinement> {
  if (process.platform !== 'linux') {
    log.warn(
      { platform: process.platform, confinement: 'process' },
      'parsers have network access, and limits of heap and time only: this system has no others',
    );
    return { level: 'process', prefix: [], launcher: undefined, hasNetwork: true, shell: undefined };
  }
  // concurrently: media waits for all three when it starts
  const [namespaces, privileges, launcher] = await Promise.all([
    findWorkingCommand('unshare', NAMESPACES),
    findWorkingCommand('setpriv', PRIVILEGES),
    findLauncher(),
  ]);
  const level = chooseLevel(namespaces, launcher);
  const hasNetwork = namespaces === undefined && launcher === undefined;
  logConfinement(log, level, { hasNetwork, hasUserNamespace: namespaces?.includes('--user') === true });
  return {
    level,
    prefix: [...(namespaces ?? []), ...(privileges ?? [])],
    launcher,
    hasNetwork,
    shell: findProgram('sh'),
  };
}

function chooseLevel(
  namespaces: readonly string[] | undefined,
  launcher: readonly string[] | undefined,
): ConfinementLevel {
  if (launcher === undefined) return 'process';
  return namespaces?.includes('--user') === true ? 'namespaces' : 'landlock';
}

function logConfinement(
  log: Log,
  level: ConfinementLevel,
  { hasNetwork, hasUserNamespace }: { readonly hasNetwork: boolean; readonly hasUserNamespace: boolean },
): void {
  log.info({ confinement: level }, 'parsers are confined');
  if (level === 'process')
    log.warn(
      { confinement: level },
      'a parser can open the files of this user: the kernel has no Landlock (5.13 or later), or there is no perl',
    );
  if (hasNetwork) log.warn({}, 'parsers have network access: this machine allows no network namespace');
  else if (!hasUserNamespace)
    log.warn({ confinement: level }, 'parsers share the user namespace of this process: this machine allows no other');
}

/** The command before a program that may open `files` alone. */
export function buildLauncherPrefix(launcher: readonly string[], program: string, files: OpenFiles): readonly string[] {
  return [
    ...launcher,
    ...ALWAYS,
    // a program outside the folders of the system has its libraries next to it
    ...['--run', program, '--run', path.join(path.dirname(program), '../lib')],
    ...files.readable.flatMap((each) => ['--read', each]),
    ...files.writable.flatMap((each) => ['--write', each]),
    '--',
  ];
}

/** Perl comes with every Debian image and calls the kernel without a compiler. */
async function findLauncher(): Promise<readonly string[] | undefined> {
  const [perl, nothing] = [findProgram('perl'), findProgram('true')];
  if (perl === undefined || nothing === undefined || !existsSync(LAUNCHER)) return undefined;
  const launcher = [perl, LAUNCHER, process.arch];
  const [program = perl, ...args] = buildLauncherPrefix(launcher, nothing, { readable: [], writable: [] });
  try {
    await promisify(execFile)(program, [...args, nothing], { env: {}, timeout: TRY_MS });
    return launcher;
  } catch {
    return undefined;
  }
}

async function findWorkingCommand(
  name: string,
  choices: readonly (readonly string[])[],
): Promise<readonly string[] | undefined> {
  const program = findProgram(name);
  const nothing = findProgram('true');
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

function findProgram(name: string): string | undefined {
  return PROGRAM_FOLDERS.map((folder) => path.join(folder, name)).find((program) => {
    try {
      accessSync(program, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
