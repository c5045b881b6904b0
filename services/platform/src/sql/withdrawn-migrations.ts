/**
 * The beginnings of the checksums of migrations that ran before the first release and were edited, renamed or put together
 * since. The list is closed: a migration of a release never changes.
 */
const WITHDRAWN: ReadonlySet<string> = new Set(
  `
  06bb50d808d4 108264094df0 17e9dd748f35 183f6df5b852 1c08f5d1afd7 1f727f0fba00 216abcb3bc91 22d542edb2f5
  253c01f340d8 26c43dc3d095 2f658d5efbda 30522e07fc72 308a6a4a5a87 321987c6225b 39346878e632 39c0bae7aca2
  3c09abcaac82 419c05509076 43c79eb09a2d 451263cfd85b 46602f1861ae 47111a4f3747 4c57231144f1 4cf15315d31b
  5051ceb0b8f7 50e8ba8fe2c0 52f8997d23da 5614b886a71a 56ffcd0f2f92 5c65759d3d41 5ef0abccdab6 6366189a3686
  68d8f5d59440 6acfea479899 701bc4403a19 71bd8f580253 7286df8ace98 7501731548b9 79450f688e34 7c09ea99ec14
  7d0c6b9ad23e 7dbc5755497c 8463b6b2c9da 909a0b8b6ff8 90cc2d28531d 91bfbc218d1a 932c2209310c 94f7f10c420b
  994b61224374 99ffb208bfcd 9e401a055f4b a0be805fb344 a68b54f73c76 a776a054c538 a7e9486be869 b4046a371621
  b675d4ecfe8f b8ccb5a07b88 bae5358b1b8b bd1e8263c0bc c5ad12daf601 c858f55f6df3 c90de9a914f9 c9a1ccd60c5c
  caee6f21edac cf824586fcd9 d15368375a23 d20806b72277 d6c46c766909 d6fcb9d16136 da2f282fef48 dc11bd9e65f0
  dedcf06a6579 dfa581b71953 e35c375ea70c e45ec3b97dbe ec5637f18f85 f1ba44cae9c6 f6e884bb4624 f9266d92318d
  `.match(/[0-9a-f]+/g),
);
const LENGTH = 12;

/** The names of migrations, in their order, that only a program from before the first release has. */
export function listWithdrawn(done: ReadonlyMap<string, string>): readonly string[] {
  return [...done].flatMap(([name, checksum]) => (WITHDRAWN.has(checksum.slice(0, LENGTH)) ? [name] : [])).sort();
}
