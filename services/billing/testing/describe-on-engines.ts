import path from 'node:path';
import { afterAll, afterEach, describe } from '@jest/globals';
import { buildSchemaUrl, openMigratedSchema } from '@reelgate/platform/testing/migrated-schema';
import type { MigratedSchema } from '@reelgate/platform/testing/migrated-schema';
import { describeWith } from '../../../test/servers/describe-with.ts';
import { postgresServer } from '../../../test/servers/postgres-server.ts';
import { openBilling, temporaryLocation } from './open-billing.ts';
import type { ConfigValue, Location, TestBilling } from './open-billing.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../migrations');

/** Opens a service on a database without accounts. The test's end stops the service and removes what it wrote. */
export type Open = (value?: ConfigValue) => Promise<TestBilling>;

/** Runs the same tests on every engine that the service supports. */
export function describeOnEngines(title: string, tests: (open: Open) => void): void {
  describe(`${title} on SQLite`, () => {
    tests(opener(async () => temporaryLocation()));
  });
  describeWith(postgresServer, title, (url) => {
    const free: MigratedSchema[] = [];
    const all: MigratedSchema[] = [];
    afterAll(() => Promise.all(all.map((schema) => schema.close())));
    tests(
      opener(async () => {
        const known = free.pop();
        await known?.restore();
        const schema = known ?? (await openMigratedSchema(url(), `billing_${all.length + 1}`, MIGRATIONS));
        if (known === undefined) all.push(schema);
        const location = temporaryLocation(buildSchemaUrl(url(), schema.name));
        return {
          ...location,
          remove: () => {
            location.remove();
            free.push(schema);
          },
        };
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
