import { TokenRight } from '@reelgate/proto/billing/v1/token_right';
import { TEAM } from './simulated-config.ts';
import type { Caller } from './simulated-config.ts';
import { LostAnswer } from './simulated-http.ts';
import type { World } from './world.ts';

const LIMITS_NANOS: readonly bigint[] = [2_000_000_000n, 5_000_000_000n, 50_000_000_000n];
const MADE_MAX = 3;
const TRIES_MAX = 60;
const RETRY_MS = { least: 200, most: 1500 };
/** The name of what a team does in a run. */
export const TEAM_ACT = 'team';

/** The tokens that a token of the team has made. */
export interface Team {
  readonly tokens: () => readonly Caller[];
}

/** A token that a maker has made, with those that it made itself. */
export interface MadeToken {
  readonly id: string;
  readonly key: string;
}

interface TokenPlan {
  readonly accountId: string;
  /** Undefined: it has no limit. */
  readonly limitNanos?: bigint;
  readonly makerTokenId?: string;
}

/** A token with a limit makes tokens, and one of these makes another one. All of them order within the first limit. */
export function startTeam(world: Omit<World, 'team'>): Team {
  const { draws, faults, rules, acts } = world;
  const made: Caller[] = [];
  const limitNanos = draws.pick('team limit', LIMITS_NANOS);
  const run = async (): Promise<void> => {
    const first = await makeToken(world, 'team maker', { accountId: TEAM.id, limitNanos });
    if (first === undefined) return;
    const ids = [first.id];
    rules.limited({ name: 'the tree of the team', tokenIds: ids, limitNanos });
    let maker = first.id;
    for (let number = 1; number <= MADE_MAX; number += 1) {
      const token = await makeToken(world, `team token ${number}`, {
        ...{ accountId: TEAM.id, limitNanos, makerTokenId: maker },
      });
      if (token === undefined) return;
      ids.push(token.id);
      made.push({ account: TEAM.id, token: token.key });
      acts.note('a token is made');
      // the second token is made by the first one that was made, and the third one too
      if (number === 1) maker = token.id;
    }
  };
  if (!faults.isLeftOut(TEAM_ACT)) void run();
  return { tokens: () => made };
}

/** Returns undefined if no call is answered. A token whose creation was not answered stays unused: its key is lost. */
export async function makeToken(
  { machine, scheduler, draws, events }: Omit<World, 'team'>,
  name: string,
  { accountId, limitNanos, makerTokenId = '' }: TokenPlan,
): Promise<MadeToken | undefined> {
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    try {
      const { token, key } = await machine.call(
        ({ accounts }) =>
          accounts.createToken({
            ...{ accountId, name, models: ['*'], makerTokenId },
            ...(limitNanos === undefined ? {} : { limitNanos }),
            tokens: TokenRight.WRITE,
          }),
        name,
      );
      return { id: token?.id ?? '', key };
    } catch (error) {
      events.write(scheduler.now(), 'team', `${name} is not made: ${String(error)}`);
      if (!(error instanceof LostAnswer) && tries === TRIES_MAX) throw error;
      await scheduler.pause(draws.whole(`${name} retry ${tries}`, RETRY_MS.least, RETRY_MS.most));
    }
  }
  return undefined;
}
