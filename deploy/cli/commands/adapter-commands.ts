import { CommandFailed, defineCommand, readSingleId } from '../command.ts';
import { resolveTypedPath } from '../environment.ts';

export const adapterTest = defineCommand({
  summary: 'run the contract suite over an adapter of your own, with the fixtures beside it',
  words: 'FILE',
  options: {},
  example: 'adapter test ./adapters/borealis.ts',
  run: async ({ words, environment, print }) => {
    const file = resolveTypedPath(environment, readSingleId(words, 'file'));
    // the suite is a part of the service, which no other command needs
    const { testOwnAdapter } = await import('@reelgate/tasks/app');
    const cases = await testOwnAdapter(file, ({ name, failure }) => {
      print(
        failure === undefined
          ? `ok      ${name}`
          : `failed  ${name}\n        ${failure.replaceAll('\n', '\n        ')}`,
      );
    }).catch((error: unknown) => {
      throw new CommandFailed(error instanceof Error ? error.message : String(error));
    });
    const failed = cases.filter(({ failure }) => failure !== undefined).length;
    const ok = failed === 0;
    return {
      ok,
      answer: { ok, cases },
      text: ok ? `${cases.length} cases passed` : `${failed} of ${cases.length} cases failed`,
    };
  },
});
