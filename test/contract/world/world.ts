import type { CommandResult } from '../../harness/program.ts';
import type { MediaOrigin } from './media-origin.ts';

/** Who sends a request. */
export type Account =
  /** Sees every model and has money. */
  | 'main'
  /** Of the account that sends only what is refused before anything is done. */
  | 'refusals'
  | 'no token'
  | 'an unknown token'
  /** Of another account. */
  | 'other'
  /** Of the main account, for the model Beta-V1 alone. */
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

/** A gateway to try rows on. */
export interface World {
  readonly base: string;
  /** What no answer may hold. */
  readonly secrets: readonly string[];
  token(of: Account): string | undefined;
  /** What `{{name}}` stands for in every row: an address, or the id of a task that all rows share. */
  value(name: string): Promise<string>;
  /** Only of a program that the suite started. */
  readonly own?: {
    readonly origin: MediaOrigin;
    command(...args: readonly string[]): Promise<CommandResult>;
  };
}
