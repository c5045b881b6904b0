import { compat } from './compat/index.ts';
import type { Dialect } from './dialect.ts';
import { generations } from './generations/index.ts';
import { vendor } from './vendor/index.ts';

/** Every dialect that the gateway speaks; its routes mount themselves. */
export const dialects: readonly Dialect[] = [compat, vendor, generations];
