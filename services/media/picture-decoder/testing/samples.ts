import { readFileSync } from 'node:fs';

/** A sample stream of one key frame, with start codes. */
export interface Sample {
  readonly name: string;
  /** The features that the stream exercises. */
  readonly features: string;
  readonly width: number;
  readonly height: number;
  /** The SHA-256 of the shown samples of Y, Cb and Cr, as another decoder gives them. */
  readonly sha256: string;
}

/** The README has the same table. */
export const SAMPLES: readonly Sample[] = [
  {
    name: 'baseline',
    features: 'CAVLC, intra 4x4 and 16x16',
    width: 98,
    height: 66,
    sha256: 'd92fd0704a759bd4971995c4fb6a689ecc07875e570b834630f6421766b4264e',
  },
  {
    name: 'main',
    features: 'CABAC, intra 4x4 and 16x16',
    width: 98,
    height: 66,
    sha256: '93cc9f6e2f06592699da8ca9ec2b8169eb9e8e31dcabe2734df39506dd0292ac',
  },
  {
    name: 'high',
    features: 'CABAC, intra 8x8, 8x8 transform',
    width: 98,
    height: 66,
    sha256: 'd7c296c3a65489d27f7031590a11f15d02f3a121a44908313f4a3a54d870b603',
  },
  {
    name: 'high-cavlc',
    features: 'CAVLC, intra 8x8, 8x8 transform',
    width: 98,
    height: 66,
    sha256: 'afa44d287b9d06467b70b46352c56bf168a96e906676e6056250b0daa8d43e1b',
  },
  {
    name: 'high-slices',
    features: 'several slices in a picture',
    width: 98,
    height: 66,
    sha256: '060cd5c8336007d89a683a334d41fc343c9620f8ccb964bcba70fa98488682e3',
  },
  {
    name: 'high-weights',
    features: 'scaling lists',
    width: 98,
    height: 66,
    sha256: '3500dacedfd66f08328ffc9e262c0dd3d527124df0f83ba8a07d1f1e398e4f19',
  },
  {
    name: 'raw-cabac',
    features: 'I_PCM macroblocks in CABAC',
    width: 48,
    height: 32,
    sha256: 'f6f0698ef82a72873a46ad62fc9d1a1ce78148233443050e29f5c469ec8f9d0e',
  },
  {
    name: 'raw-cavlc',
    features: 'I_PCM macroblocks in CAVLC',
    width: 48,
    height: 32,
    sha256: '7b634d9fd92ef43127bc15dd99c8a0c792deb39123b2a1075a5ac4d658a1288c',
  },
];

export const sampleStream = (name: string): Buffer => readFileSync(new URL(`./fixtures/${name}.264`, import.meta.url));
