import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { redisServer } from '../servers/redis-server.ts';
import { videoTaskSuite } from './video-tasks.ts';

describeWith(natsServer, 'four processes over gRPC', (bus) => {
  describeWith(redisServer, 'with shared counters', (redis) => {
    videoTaskSuite('four processes', { bus, redis });
  });
});
