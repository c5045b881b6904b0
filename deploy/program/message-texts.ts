import { configureTextEncoding, getTextEncoding } from '@bufbuild/protobuf/wire';

/**
 * Lets messages make the bytes of their texts with a Buffer. For texts as short as those of messages, `TextEncoder` takes
 * several times as long: 0.3 µs instead of 0.06, and a create sends about thirty between the services.
 */
export function quickenMessageTexts(): void {
  configureTextEncoding({ ...getTextEncoding(), encodeUtf8: (text) => Buffer.from(text) });
}
