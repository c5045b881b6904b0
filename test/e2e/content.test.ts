import { describe } from '@jest/globals';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { contentSuite } from './content.ts';

describe('one program', () => {
  contentSuite('one program');
});

describeWith(natsServer, 'four processes', (bus) => {
  contentSuite('four processes', { bus });
});
