import path from 'node:path';
import { withCallerUmask } from '../caller-umask.ts';
import { CommandFailed, defineCommand, readSingleId } from '../command.ts';
import { resolveTypedPath } from '../environment.ts';

const FOLDER = './adapters';

export const adapterNew = defineCommand({
  summary: 'write a working adapter of your own, with its fixtures and a page that leads to a channel',
  words: 'NAME',
  options: { in: { value: 'FOLDER', means: `the folder of your adapters; default: ${FOLDER}` } },
  example: 'adapter new borealis',
  run: async ({ words, options: { in: folder = FOLDER }, environment }) => {
    const name = readSingleId(words, 'adapter');
    // most other commands need no part of the tasks service
    const { writeOwnAdapter } = await import('@reelgate/tasks/app');
    const { written, kept } = await withCallerUmask(() =>
      writeOwnAdapter(resolveTypedPath(environment, folder), name),
    ).catch(fail);
    const toTyped = (file: string): string => path.join(folder, file);
    return {
      answer: { written: written.map(toTyped), kept: kept.map(toTyped) },
      text: [
        ...written.map((file) => `wrote  ${toTyped(file)}`),
        ...kept.map((file) => `kept   ${toTyped(file)}, which was already there`),
        `${toTyped('README.md')} leads from here to a channel`,
      ].join('\n'),
    };
  },
});

export const adapterTest = defineCommand({
  summary: 'run the contract suite over an adapter of your own, with the fixtures next to it',
  words: 'FILE',
  options: {},
  example: 'adapter test ./adapters/borealis.ts',
  run: async ({ words, environment, print }) => {
    const file = resolveTypedPath(environment, readSingleId(words, 'file'));
    // the suite is a part of the service, which no other command needs
    const { testOwnAdapter } = await import('@reelgate/tasks/app');
    const cases = await withCallerUmask(() =>
      testOwnAdapter(file, ({ name, failure }) =>
        print(
          failure === undefined
            ? `ok      ${dropControls(name)}`
            : `failed  ${dropControls(name)}\n        ${dropControls(failure).replaceAll('\n', '\n        ')}`,
        ),
      ),
    ).catch(fail);
    const failed = cases.filter(({ failure }) => failure !== undefined).length;
    const ok = failed === 0;
    return {
      ok,
      answer: { ok, cases },
      text: ok ? `${cases.length} cases passed` : `${failed} of ${cases.length} cases failed`,
    };
  },
});

function fail(error: unknown): never {
  throw new CommandFailed(dropControls(error instanceof Error ? error.message : String(error)));
}

/** Replaces characters that could control the terminal in a text of an adapter. Its lines stay lines. */
function dropControls(text: string): string {
  return text.replace(/(?:(?!\n)[\p{Cc}\p{Cf}])+/gu, ' ');
}
