import { bytes, duration, whole } from '@reelgate/platform/config/settings';
import type { ValuesOf } from '@reelgate/platform/config/settings';

const MESSAGES_MAX = 100_000;
const SESSIONS_MAX = 1_000_000;

/** The key `gateway.realtime`: the bounds of realtime sessions. */
export const realtimeKeys = {
  message: bytes('the largest message of a session, in either direction', { default: '16MiB', as: 'messageBytesMax' }),
  messages_per_second: whole('messages of the client; twice as many may arrive at once', {
    default: 200,
    max: MESSAGES_MAX,
  }),
  duration: duration('the longest session', { default: '60m', as: 'durationMaxMs' }),
  ping: duration('the time between two pings; a side that misses one is gone', { default: '20s' }),
  sessions: whole('sessions of one gateway at a time', { default: 2000, max: SESSIONS_MAX, as: 'sessionsMax' }),
  sessions_per_token: whole('sessions of one gateway at a time, by token', {
    default: 100,
    max: SESSIONS_MAX,
    as: 'sessionsPerTokenMax',
  }),
};

export type RealtimeSettings = ValuesOf<typeof realtimeKeys>;
