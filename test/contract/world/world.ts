import type { CommandResult } from '../../harness/program.ts';
import type { MediaOrigin } from './media-origin.ts';

/** The sender of a request. */
export type Account =
  /** Sees every model and has money. */
  | 'main'
  /** Of an account whose requests are all refused before any work. */
  | 'refusals'
  | 'no token'
  | 'an unknown token'
  /** Of another account. */
  | 'other'
  /** Of the main account, only for the model Beta-V1. */
  | 'narrow'
  | 'poor'
  | 'expired'
  /** May send two creates and five reads a minute. */
  | 'slow'
  /** May have one task in flight. */
  | 'one task'
  /** May spend half a unit. */
  | 'limited'
  /** Of an account for one row about money. */
  | `money ${string}`;

/** A gateway that the rows run against. */
export interface World {
  readonly base: string;
  /** Texts that no answer may hold. */
  readonly secrets: readonly string[];
  token(of: Account): string | undefined;
  /** The value of each `{{name}}` in the rows: an address, or the id of a shared task. */
  value(name: string): Promise<string>;
  /** Only for a program that the suite has started. */
  readonly own?: {
    readonly origin: MediaOrigin;
    command(...args: readonly string[]): Promise<CommandResult>;
  };
}
