import { existsSync } from 'node:fs';
import { installDebianPackages } from '../servers/debian-packages.ts';

/** The library of Debian's package libfaketime, for programs with threads. */
const LIBRARIES = ['x86_64-linux-gnu', 'aarch64-linux-gnu'].map(
  (machine) => `/usr/lib/${machine}/faketime/libfaketimeMT.so.1`,
);

/** The environment in which a program's wall clock is off by this many seconds. Its monotonic clock is right. */
export function fakeTime(offsetS: number): Readonly<Record<string, string>> {
  const library = LIBRARIES.find((file) => existsSync(file)) ?? install();
  return {
    LD_PRELOAD: library,
    FAKETIME: `${offsetS < 0 ? '' : '+'}${offsetS}s`,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    FAKETIME_DONT_RESET: '1',
  };
}

function install(): string {
  const failure = installDebianPackages(['libfaketime']);
  const library = LIBRARIES.find((file) => existsSync(file));
  if (library === undefined) throw new Error(`there is no libfaketime: ${failure ?? 'it was not found'}`);
  return library;
}
