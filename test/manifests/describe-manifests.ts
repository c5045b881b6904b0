import { describe } from '@jest/globals';
import { missingTools } from './tools.ts';
import { VARIANTS, renderVariant } from './variants.ts';
import type { Variant } from './variants.ts';
import type { Rendered } from './render.ts';

/** A describe block for each variant of the manifests; skipped with a message where kustomize is missing. */
export function describeManifests(title: string, tests: (rendered: () => Rendered, variant: Variant) => void): void {
  const missing = missingTools('kustomize');
  if (missing !== undefined) process.stderr.write(`skipped: ${title}: ${missing}\n`);
  (missing === undefined ? describe : describe.skip).each(VARIANTS)(`${title}: %s`, (variant) => {
    tests(() => renderVariant(variant), variant);
  });
}
