import { chownSync } from 'node:fs';
import { writeTls } from '../../services/platform/testing/certificates.ts';
import type { Issued, WrittenTls } from '../../services/platform/testing/certificates.ts';
import { unprivilegedUser } from './unprivileged.ts';

/** Writes certificates into the folder of a server, for the user that the server runs as. */
export function writeServerTls(folder: string, issued: Issued, ca: string): WrittenTls {
  const written = writeTls(folder, issued, ca);
  const user = unprivilegedUser();
  if (user !== undefined) for (const file of Object.values(written)) chownSync(file as string, user.uid, user.gid);
  return written;
}
