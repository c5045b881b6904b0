import net from 'node:net';

/** A connection that has sent what it was given, and waits. */
export interface HeldConnection {
  /** What came back so far. */
  seen(): string;
  send(bytes: string | Buffer): void;
  /** Resolves when either side has closed it. */
  closed(): Promise<void>;
  close(): void;
}

/**
 * Opens a connection, from an address of this machine if one is named, and sends bytes. Resolves when the system has
 * taken all of them, or the other side has left.
 */
export function holdConnection(
  url: string,
  parts: readonly (string | Buffer)[],
  localAddress?: string,
): Promise<HeldConnection> {
  const { hostname, port } = new URL(url);
  const socket = net.connect({ port: Number(port), host: hostname, ...(localAddress && { localAddress }) });
  let seen = '';
  socket.on('data', (chunk) => {
    seen += chunk.toString('latin1');
  });
  // a server that refuses closes the connection while bytes are under way
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      resolve();
    });
  });
  const held: HeldConnection = {
    seen: () => seen,
    send: (bytes) => void socket.write(bytes),
    closed: () => closed,
    close: () => socket.destroy(),
  };
  return new Promise((resolve) => {
    const done = (): void => {
      resolve(held);
    };
    void closed.then(done);
    for (const part of parts.slice(0, -1)) socket.write(part);
    socket.write(parts.at(-1) ?? '', done);
  });
}

export interface RequestHead {
  readonly path: string;
  /** By default, the request has no token. */
  readonly token?: string;
  readonly type?: string;
  /** The declared length. By default, the body comes in chunks. */
  readonly bytes?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The head of a POST, which promises a body. */
export function requestHead({ path, token, type = 'application/json', bytes, headers = {} }: RequestHead): string {
  const length = bytes === undefined ? 'transfer-encoding: chunked' : `content-length: ${bytes}`;
  const authorization = token === undefined ? [] : [`authorization: Bearer ${token}`];
  const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [
    `POST ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    `content-type: ${type}`,
    length,
    ...authorization,
    ...more,
    '',
    '',
  ].join('\r\n');
}
