import { readErrorCode, fileVersion } from '@reelgate/platform/config/bounded-text';
import type { ConfigFile, ReadSchema } from '@reelgate/platform/config/config-file';
import { buildRecordPath, listAdapters, loadTestedAdapter } from '@reelgate/tasks/config';
import type { TestedAdapter } from '@reelgate/tasks/config';
import { describeConfig } from './program-schema.ts';

/** The schema of a file, and the adapters of operators that it names. */
export interface OwnAdaptersReader {
  readonly readSchema: ReadSchema;
  /** The adapters of the file that was read last. */
  readonly list: () => readonly TestedAdapter[];
}

/**
 * Loads the adapters of operators while a configuration is read: the schema of a channel depends on its adapter. An
 * adapter that has not passed its tests as it is, is refused at its place in the configuration.
 */
export function openOwnAdapters(): OwnAdaptersReader {
  let adapters: readonly TestedAdapter[] = [];
  return {
    list: () => adapters,
    readSchema: (value, at) => {
      const named = readNames(value);
      const files = named.map((file, index) => at.resolve(['adapters', index], file));
      // before the files are read, so that a change during the reading is found
      const versions = files.flatMap((file) =>
        [file, buildRecordPath(file)].map((one) => [one, fileVersion(one)] as const),
      );
      adapters = files.map((file, index) => loadAdapter(at.fault, index, file));
      assertNamesDiffer(at.fault, adapters);
      return { schema: describeConfig(listAdapters(adapters), { used: readUsed(value) }), files: versions };
    },
  };
}

/** The files that a value names; none if the schema refuses the value. */
function readNames(value: unknown): readonly string[] {
  const { adapters } = (value ?? {}) as { readonly adapters?: unknown };
  return Array.isArray(adapters) && adapters.every((file) => typeof file === 'string') ? adapters : [];
}

/** The adapters that the channels of a value name. To compile the keys of all would take a third of the whole check. */
function readUsed(value: unknown): ReadonlySet<unknown> {
  const { channels } = (value ?? {}) as { readonly channels?: unknown };
  const named = Array.isArray(channels) ? channels : [];
  return new Set(named.map((channel: unknown) => (channel as { readonly adapter?: unknown } | null)?.adapter));
}

function loadAdapter(fault: ConfigFile['fault'], index: number, file: string): TestedAdapter {
  try {
    return loadTestedAdapter(file);
  } catch (error) {
    throw fault(['adapters', index], readErrorCode(error));
  }
}

function assertNamesDiffer(fault: ConfigFile['fault'], adapters: readonly TestedAdapter[]): void {
  for (const [index, { name, file }] of adapters.entries()) {
    const first = adapters.findIndex((other) => other.name === name);
    if (first < index)
      throw fault(['adapters', index], `${file} has the name of ${adapters[first]?.file}; expected another name`);
  }
}
