import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { pgBouncerServer } from '../servers/pgbouncer-server.ts';
import { redisServer } from '../servers/redis-server.ts';
import { videoTaskSuite } from './video-tasks.ts';

describeWith(natsServer, 'four processes over gRPC', (bus) => {
  describeWith(redisServer, 'with shared counters', (redis) => {
    describeWith(pgBouncerServer, 'each with a database of its own', (postgres) => {
      videoTaskSuite('four processes', { bus, redis, postgres });
    });
  });
});
