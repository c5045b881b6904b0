import { describe } from '@jest/globals';
import { videoTaskSuite } from './video-tasks.ts';

describe('one program, embedded stores', () => {
  videoTaskSuite('one program');
});
