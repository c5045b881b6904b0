import type { Failure, Usage } from './task.ts';

/**
 * What an upstream says of its work, in our words. A success without a result is no success: it is asked for again. `credential` is the
 * authorization header that the result's address wants, where the address is not enough.
 */
export type Report =
  | { readonly phase: 'queued' | 'running'; readonly status: string; readonly progress?: number | undefined }
  | {
      readonly phase: 'succeeded';
      readonly status: string;
      readonly url?: string | undefined;
      readonly credential?: { reveal(): string } | undefined;
      readonly prompt?: string | undefined;
      readonly usage?: Usage | undefined;
    }
  | { readonly phase: 'failed'; readonly status: string; readonly failure: Failure }
  | { readonly phase: 'unrecognised'; readonly status: string };
