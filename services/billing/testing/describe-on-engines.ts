import { afterEach, describe } from '@jest/globals';
import { createDatabase } from '@reelgate/platform/testing/create-database';
import { describeWith } from '../../../test/servers/describe-with.ts';
import { postgresServer } from '../../../test/servers/postgres-server.ts';
import { openBilling, temporaryLocation } from './open-billing.ts';
import type { ConfigValue, Location, TestBilling } from './open-billing.ts';

/** Opens a service on an empty database. The test's end stops the service and removes the database. */
export type Open = (value?: ConfigValue) => Promise<TestBilling>;

/** Runs the same tests on every engine that the service supports. */
export function describeOnEngines(title: string, tests: (open: Open) => void): void {
  describe(`${title} on SQLite`, () => {
    tests(opener(async () => temporaryLocation()));
  });
  let databases = 0;
  describeWith(postgresServer, title, (url) => {
    tests(
      opener(async () => {
        databases += 1;
        return temporaryLocation(await createDatabase(url(), `billing_${databases}`));
      }),
    );
  });
}

export function opener(newLocation: () => Promise<Location>): Open {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  return async (value) => {
    const location = await newLocation();
    let running = await openBilling(location, value);
    ends.push(async () => {
      await running.stop();
      location.remove();
    });
    const followed = (opened: TestBilling): TestBilling => ({
      ...opened,
      restart: async (again) => {
        running = await opened.restart(again);
        return followed(running);
      },
    });
    return followed(running);
  };
}
