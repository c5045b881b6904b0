import { parseBytes, parseDuration } from '@reelgate/platform/config/units';

/** The bounds of realtime sessions. */
export interface RealtimeSettings {
  /** The limit on one message, in either direction. */
  readonly messageBytesMax: number;
  /** The rate of the client's messages. Bursts of twice as many are allowed. */
  readonly messagesPerSecond: number;
  readonly durationMaxMs: number;
  /** The time between two pings. A side that does not answer before the next ping is gone. */
  readonly pingMs: number;
  /** The sessions that this gateway holds at a time. */
  readonly sessionsMax: number;
  readonly sessionsPerTokenMax: number;
}

export interface CheckedRealtime {
  readonly message: string;
  readonly messages_per_second: number;
  readonly duration: string;
  readonly ping: string;
  readonly sessions: number;
  readonly sessions_per_token: number;
}

/** JSON Schema of `gateway.realtime`. */
export const realtimeProperties = {
  message: { type: 'string', format: 'bytes', default: '16MiB' },
  messages_per_second: {
    type: 'integer',
    minimum: 1,
    maximum: 100_000,
    default: 200,
    description: 'a whole number from 1 to 100000',
  },
  duration: { type: 'string', format: 'duration', default: '60m' },
  ping: { type: 'string', format: 'duration', default: '20s' },
  sessions: {
    type: 'integer',
    minimum: 1,
    maximum: 1_000_000,
    default: 2000,
    description: 'a whole number from 1 to 1000000',
  },
  sessions_per_token: {
    type: 'integer',
    minimum: 1,
    maximum: 1_000_000,
    default: 100,
    description: 'a whole number from 1 to 1000000',
  },
} as const;

export function realtimeSettings({
  message,
  messages_per_second: messagesPerSecond,
  duration,
  ping,
  sessions: sessionsMax,
  sessions_per_token: sessionsPerTokenMax,
}: CheckedRealtime): RealtimeSettings {
  return {
    messageBytesMax: parseBytes(message) ?? 0,
    messagesPerSecond,
    durationMaxMs: parseDuration(duration) ?? 0,
    pingMs: parseDuration(ping) ?? 0,
    sessionsMax,
    sessionsPerTokenMax,
  };
}
