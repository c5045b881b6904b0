import { warn } from './finding.ts';
import type { ComparedConfig, Finding } from './finding.ts';

/** An exception without a purpose lets every client reach the private address that only results need. */
export function findPlainExceptions({ media }: ComparedConfig): readonly Finding[] {
  return media.fetch.allow.flatMap((entry, at) =>
    typeof entry === 'string'
      ? [
          warn(
            ['media', 'fetch', 'allow', at],
            `clients may name media at the private address ${entry}; expected { host: "${entry}", for: results } ` +
              'if only results come from there, or for: inputs',
          ),
        ]
      : [],
  );
}
