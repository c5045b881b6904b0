/** The counter of all tasks in flight. */
export const TOTAL_SCOPE = 'total';

/** The counter of a token's tasks in flight. */
export function tokenScope(tokenId: string): string {
  return `token:${tokenId}`;
}

const CHANNEL_PREFIX = 'channel:';

/** The counter of a channel's tasks in flight. */
export function channelScope(channel: string): string {
  return `${CHANNEL_PREFIX}${channel}`;
}

/**
 * The counter of the tasks that an account has in flight on a channel. Its name follows the name of the channel's
 * counter.
 */
export function channelAccountScope(channel: string, accountId: string): string {
  return `${channelScope(channel)}:account:${accountId}`;
}

/** Reports whether a counter belongs to a channel, or to an account on a channel. */
export function isChannelScope(scope: string): boolean {
  return scope.startsWith(CHANNEL_PREFIX);
}

/** The counter of all jobs in flight. */
export const JOBS_TOTAL_SCOPE = 'jobs:total';

/** The counter of a token's jobs in flight. */
export function jobTokenScope(tokenId: string): string {
  return `jobs:token:${tokenId}`;
}
