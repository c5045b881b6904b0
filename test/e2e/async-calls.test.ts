import { describe } from '@jest/globals';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { postgresServer } from '../servers/postgres-server.ts';
import { redisServer } from '../servers/redis-server.ts';
import { asyncCallsSuite } from './async-calls.ts';

describe('asynchronous calls in one program', () => {
  asyncCallsSuite('one program');
});

describeWith(natsServer, 'asynchronous calls over four processes', (bus) => {
  describeWith(redisServer, 'with shared counters', (redis) => {
    asyncCallsSuite('four processes', { bus, redis });

    describeWith(postgresServer, 'and a database each', (postgres) => {
      asyncCallsSuite('four processes', { bus, redis, postgres });
    });
  });
});
