/** Headers of one connection, not of the message (RFC 9110, 7.6.1), or written anew on each connection. */
export const HOP_BY_HOP: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
];

/** The usual values of Connection, which name no header. */
const PLAIN: ReadonlySet<string> = new Set(['keep-alive', 'close', 'Keep-Alive']);

/** Lists the further headers that a Connection header makes hop-by-hop; undefined if there are none. */
export function listConnectionHeaders(connection: string | undefined): ReadonlySet<string> | undefined {
  return connection === undefined || PLAIN.has(connection)
    ? undefined
    : new Set(
        connection
          .toLowerCase()
          .split(',')
          .map((name) => name.trim()),
      );
}
