import { bytes, duration, whole } from '@reelgate/platform/config/settings';
import type { ValuesOf } from '@reelgate/platform/config/settings';

/** The key `media.files`. */
export const fileKeys = {
  lifetime: duration("how long a client's file is kept, unless the client asks for less", { default: '30d' }),
  /** No more than the largest input of a batch by OpenAI's contract. */
  max_bytes: bytes('the largest file that a client uploads', { default: '64MiB', max: '200MiB', as: 'bytesMax' }),
  per_account: bytes(
    'the bytes of the files of an account at one time, at least `files.max_bytes`; the outputs of batches count, ' +
      'and are never refused',
    { default: '2GiB', as: 'accountBytesMax' },
  ),
  count_per_account: whole('the most files of an account at one time', { default: 1000, as: 'accountFilesMax' }),
};

export type FileSettings = ValuesOf<typeof fileKeys>;
