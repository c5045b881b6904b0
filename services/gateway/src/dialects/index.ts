import type { Dialect } from './dialect.ts';
import { generations } from './generations/index.ts';
import { openai } from './openai/index.ts';
import { openrouter } from './openrouter/index.ts';
import { vendor } from './vendor/index.ts';

/** Every dialect of the gateway. The routes of a dialect on this list are mounted. */
export const dialects: readonly Dialect[] = [openai, vendor, generations, openrouter];
