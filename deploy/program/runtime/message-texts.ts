import { configureTextEncoding, getTextEncoding } from '@bufbuild/protobuf/wire';

/**
 * Lets messages encode their texts with a Buffer. For short texts as in messages, `TextEncoder` takes several times as
 * long: 0.3 µs instead of 0.06, and a create sends about thirty between the services.
 */
export function quickenMessageTexts(): void {
  configureTextEncoding({ ...getTextEncoding(), encodeUtf8: (text) => Buffer.from(text) });
}
