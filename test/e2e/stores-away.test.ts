import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { postgresServer } from '../servers/postgres-server.ts';
import { storesAwaySuite } from './stores-away.ts';

describeWith(postgresServer, 'one program', (postgres) => {
  storesAwaySuite('one program', { postgres });
});

describeWith(natsServer, 'four processes', (bus) => {
  describeWith(postgresServer, 'each with a database of its own', (postgres) => {
    storesAwaySuite('four processes', { bus, postgres });
  });
});
