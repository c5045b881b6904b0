import { createDatabase } from '@reelgate/platform/testing/create-database';

/** Makes an empty database for each service. Returns their URLs. */
export async function newDatabases(server: string): Promise<Record<'tasks' | 'billing' | 'media', string>> {
  return {
    tasks: await createDatabase(server, 'tasks'),
    billing: await createDatabase(server, 'billing'),
    media: await createDatabase(server, 'media'),
  };
}
