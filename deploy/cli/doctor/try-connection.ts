import { connect } from 'node:net';
import type { HostPort } from '@reelgate/platform/config/units';

/** Reports whether an address accepts a connection. The signal ends the attempt. */
export type TryConnection = (at: HostPort, signal: AbortSignal) => Promise<boolean>;

export const tryConnection: TryConnection = ({ host, port }, signal) =>
  new Promise((resolve) => {
    const socket = connect({ host, port, signal });
    const end = (isAccepted: boolean): void => {
      socket.destroy();
      resolve(isAccepted);
    };
    socket.once('connect', () => {
      end(true);
    });
    socket.once('error', () => {
      end(false);
    });
  });
