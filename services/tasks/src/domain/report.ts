import type { Failure, Usage } from './task.ts';

/**
 * The report of an upstream about its work, independent of its API. A success without a result counts as unfinished:
 * the upstream is polled again. `credential` is the authorization header that the URL of the result requires, if
 * any. `endedAt` is the time at which the work ended by the upstream's clock, in milliseconds since 1970; undefined
 * if the upstream does not report it.
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
      readonly endedAt?: number | undefined;
    }
  | {
      readonly phase: 'failed';
      readonly status: string;
      readonly failure: Failure;
      readonly endedAt?: number | undefined;
    }
  | { readonly phase: 'unrecognised'; readonly status: string };
