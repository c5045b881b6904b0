export { createReelgate, reelgate } from './reelgate.ts';
export type { ReelgateProvider, ReelgateSettings } from './reelgate.ts';
export type { ReelgateVideoOptions } from './video-options.ts';
