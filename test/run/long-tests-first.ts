import { createRequire } from 'node:module';
import path from 'node:path';
import type SequencerPackage from '@jest/test-sequencer';
import { isLongTest } from './long-tests.ts';

const ROOT = path.join(import.meta.dirname, '../..');
// the types of the package are those of its CommonJS form
const require = createRequire(import.meta.url);
const { default: Sequencer } = require('@jest/test-sequencer') as typeof SequencerPackage;

type Tests = readonly { readonly path: string }[];

/**
 * Starts the long tests first, so that none of them runs alone at the end. Jest knows how long a file takes only after a
 * run here, and sorts the files of a fresh clone by their size.
 */
export default class LongTestsFirst extends Sequencer {
  override async sort(tests: Parameters<InstanceType<typeof Sequencer>['sort']>[0]) {
    const sorted = await super.sort(tests);
    const isLong = ({ path: file }: Tests[number]): boolean => isLongTest(path.relative(ROOT, file));
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
}
