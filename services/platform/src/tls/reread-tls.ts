import type { SecureContextOptions } from 'node:tls';
import { systemClock } from '../clock.ts';
import { readTlsFiles, toSecureContext } from './tls-files.ts';
import { TlsFault } from './tls-material.ts';
import type { TlsFiles } from './tls-material.ts';

/**
 * Returns the certificates for connections to a server that is not part of the program. Each call reads the files
 * again. While they are missing or do not fit together, the last valid ones stay in use. The first call happens here,
 * and throws.
 */
export function rereadTls(files: TlsFiles): () => SecureContextOptions {
  let last = read(files);
  return () => {
    try {
      last = read(files);
    } catch (error) {
      if (!(error instanceof TlsFault)) throw error;
    }
    return last;
  };
}

function read(files: TlsFiles): SecureContextOptions {
  try {
    return toSecureContext(readTlsFiles(files, systemClock.now()));
  } catch (error) {
    if (error instanceof TlsFault)
      throw new TlsFault(error.file, `${files[error.file] ?? error.file} ${error.message}`);
    throw error;
  }
}
