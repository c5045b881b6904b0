import { connect } from 'nats';
import { STREAM } from '../src/bus/nats-stream.ts';

export interface EventCounter {
  /** The events that the stream has ever taken. */
  count(): Promise<number>;
  close(): Promise<void>;
}

/** Counts the events of the services in a NATS server. The stream must exist by the first count. */
export async function openEventCounter(server: string): Promise<EventCounter> {
  const connection = await connect({ servers: server });
  const { streams } = await connection.jetstreamManager();
  return {
    count: async () => (await streams.info(STREAM)).state.last_seq,
    close: () => connection.close(),
  };
}
