/** The counter of all tasks in flight. */
export const TOTAL_SCOPE = 'total';

/** The counter of a token's tasks in flight. */
export function tokenScope(tokenId: string): string {
  return `token:${tokenId}`;
}

/** The counter of a channel's tasks in flight. */
export function channelScope(channel: string): string {
  return `channel:${channel}`;
}

/** The counters of jobs in flight: one for the token, one for all tokens. */
export function jobScopes(tokenId: string): readonly [ofToken: string, total: string] {
  return [`jobs:token:${tokenId}`, 'jobs:total'];
}
