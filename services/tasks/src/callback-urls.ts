import { deriveSecret } from '@reelgate/platform/secret';
import type { AcceptedKeys } from '@reelgate/platform/links/accepted-keys';
import { signName, readSignedName } from '@reelgate/platform/links/signed-name';
import type { CallbackUrls } from './operations/deps.ts';

const PURPOSE = 'upstream-callbacks';
const NAME = /^(?<taskId>[\w-]{1,64})\.(?<number>[1-9]\d?)$/;

/** Unguessable URLs for the callbacks of upstreams, one for each attempt. The gateway derives the same key. */
export function callbackUrls(publicUrl: string, { signatures }: AcceptedKeys): CallbackUrls {
  const key = deriveSecret(signatures[0], PURPOSE);
  const accepted = signatures.map((one) => deriveSecret(one, PURPOSE));
  return {
    buildUrl: ({ taskId, number }) => `${publicUrl}/callbacks/${signName(key, `${taskId}.${number}`)}`,
    readAttempt: (token) => {
      const { taskId, number } = NAME.exec(readSignedName(accepted, token) ?? '')?.groups ?? {};
      return taskId === undefined ? undefined : { taskId, number: Number(number) };
    },
  };
}
