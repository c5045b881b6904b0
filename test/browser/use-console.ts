import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { Visit } from './browser.ts';
import { startConsoleWorld } from './console-world.ts';
import type { ConsoleWorld } from './console-world.ts';

const START_TIMEOUT_MS = 180_000;

interface ConsoleUnderTest {
  readonly world: ConsoleWorld;
  /** Closes a visit after the test, and fails the test for its faults. */
  keep(visit: Visit): Visit;
  /** Opens a page of one of the two consoles, signed in. It is closed after the test. */
  openAt(door: 'client' | 'operator', key: string, address: string): Promise<Visit>;
}

/**
 * The program and a browser for the tests of a block. A page that reports a fault fails its test, unless the test has
 * `provoked` it: what it breaks on purpose, as the browser reports it.
 */
export function useConsole(provoked: string[] = []): ConsoleUnderTest {
  let world: ConsoleWorld;
  const visits: Visit[] = [];
  beforeAll(async () => {
    world = await startConsoleWorld();
  }, START_TIMEOUT_MS);
  afterAll(() => world.stop(), START_TIMEOUT_MS);
  afterEach(async () => {
    const faults = visits.flatMap((visit) => visit.faults);
    await Promise.all(visits.splice(0).map((visit) => visit.close()));
    expect(faults).toEqual(provoked.splice(0));
  });
  const keep = (visit: Visit): Visit => {
    visits.push(visit);
    return visit;
  };
  return {
    get world() {
      return world;
    },
    keep,
    openAt: async (door, key, address) => {
      const visit = keep(await world.signedIn(door, key));
      await visit.page.goto(`${world.origins[door]}/console${address}`);
      return visit;
    },
  };
}
