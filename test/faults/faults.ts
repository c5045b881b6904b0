import { SERVICES } from '../cluster/checkout-pods.ts';
import type { ServiceName } from '../cluster/checkout-pods.ts';
import type { Fate } from '../cluster/bus-line.ts';
import type { StoreName } from '../cluster/stores.ts';
import { fakeTime } from './fake-time.ts';
import type { Fault } from './run-fault.ts';
import type { World } from './world.ts';

/** How long an outage lasts, and how often kills come. */
export interface Sizes {
  readonly outageMs: number;
}

/** A small load has few events, and each change is to happen once. */
const EVENT_WAIT_MS = 200;
const EVENT_WAITS_MAX = 150;
/** A pod that has just been killed works again after this, and the next kill may come. */
const BETWEEN_KILLS_MS = 3000;

const rollingRestart = (services: readonly ServiceName[], how: 'at once' | 'in turn' = 'at once'): Fault => ({
  name: `a rolling restart of ${services.join(', ')}${services.length > 1 ? ` ${how}` : ''}`,
  allows: 'nothing',
  hitsGateway: false,
  run: async ({ deployments }) => {
    if (how === 'at once') await Promise.all(services.map((service) => deployments[service].rollingRestart()));
    else for (const service of services) await deployments[service].rollingRestart();
  },
});

/** One replica of each service is killed, one after another. */
const kills = (services: readonly ServiceName[]): Fault => ({
  name: `SIGKILL of a replica of ${services.join(', ')}`,
  allows: 'in hand',
  hitsGateway: services.includes('gateway'),
  run: async (world, killed) => {
    for (const service of services) {
      world.anyPod(service).kill('SIGKILL');
      killed();
      await world.sleep(BETWEEN_KILLS_MS);
      await world.deployments[service].available();
    }
  },
});

const frozenStore = (name: StoreName, { outageMs }: Sizes): Fault => ({
  name: `${name} stopped for ${outageMs / 1000} s`,
  allows: 'while it lasts',
  hitsGateway: false,
  run: async ({ stores, sleep }) => {
    stores[name].freeze();
    await sleep(outageMs);
    stores[name].thaw();
  },
});

const killedStore = (name: StoreName, { outageMs }: Sizes): Fault => ({
  name: `${name} killed, and started after ${outageMs / 1000} s`,
  allows: 'while it lasts',
  hitsGateway: false,
  run: async ({ stores, sleep }) => {
    await stores[name].kill();
    await sleep(outageMs);
    await stores[name].start();
  },
});

const PEERS: readonly (readonly [ServiceName, ServiceName])[] = [
  ['gateway', 'tasks'],
  ['gateway', 'billing'],
  ['gateway', 'media'],
  ['tasks', 'billing'],
  ['tasks', 'media'],
];

/** One replica of a service loses one replica of another, as if the network between them dropped every packet. */
const parted = ([one, other]: readonly [ServiceName, ServiceName], { outageMs }: Sizes): Fault => ({
  name: `a replica of ${one} cut off from one of ${other} for ${outageMs / 1000} s`,
  allows: 'while it lasts',
  hitsGateway: false,
  run: async (world) => {
    const [here, there] = [world.anyPod(one).namespace, world.anyPod(other).namespace];
    world.cluster.network.part(here, there);
    await world.sleep(outageMs);
    world.cluster.network.join(here, there);
  },
});

const partedFromStore = (service: ServiceName, store: StoreName, { outageMs }: Sizes): Fault => ({
  name: `a replica of ${service} cut off from ${store} for ${outageMs / 1000} s`,
  allows: 'while it lasts',
  hitsGateway: service === 'gateway',
  run: async (world) => {
    const { namespace } = world.anyPod(service);
    world.cluster.network.part(namespace, world.stores[store].namespace);
    await world.sleep(outageMs);
    world.cluster.network.join(namespace, world.stores[store].namespace);
  },
});

/** Events of the bus come twice, late and not at all. Work goes on, and the sweeps replace what is lost. */
const tamperedBus = ({ outageMs }: Sizes): Fault => ({
  name: `events of the bus twice, late and dropped for ${outageMs / 1000} s`,
  allows: 'nothing',
  hitsGateway: false,
  run: async ({ bus, chance, sleep }) => {
    bus.tamper(() => fateBy(chance.chance(), chance.whole(50, 3000)));
    await sleep(outageMs);
    const isBrought = (): boolean => Object.values(bus.counts).every((count) => count > 0);
    for (let waits = 0; !isBrought() && waits < EVENT_WAITS_MAX; waits += 1) await sleep(EVENT_WAIT_MS);
    bus.tamper(() => 'as it is');
    if (!isBrought()) throw new Error('no event of the bus was changed');
  },
});

function fateBy(share: number, lateMs: number): Fate {
  if (share < 0.25) return 'twice';
  if (share < 0.45) return 'dropped';
  return share < 0.7 ? { lateMs } : 'as it is';
}

/** No store but Redis can write, and no service has room for temporary files. */
const fullDisks = (names: readonly ('postgres' | 'nats' | 'temporary')[], { outageMs }: Sizes): Fault => ({
  name: `the disks of ${names.join(', ')} full for ${outageMs / 1000} s`,
  allows: names.includes('postgres') ? 'while it lasts' : 'nothing',
  hitsGateway: false,
  run: async ({ disks, stores, sleep }) => {
    for (const name of names) disks[name].fill();
    await sleep(outageMs);
    for (const name of names) disks[name].empty();
    // A server that cannot write its log ends.
    for (const name of ['postgres', 'nats'] as const) await stores[name].start();
  },
});

/** One replica's clock is wrong. The other replicas' clocks are right. */
const skewedClock = (service: ServiceName, offsetS: number, { outageMs }: Sizes): Fault => ({
  name: `the clock of a replica of ${service} off by ${offsetS} s`,
  allows: 'nothing',
  hitsGateway: false,
  run: async (world) => {
    world.setEnv(service, fakeTime(offsetS));
    await replaceOne(world, service);
    world.setEnv(service, {});
    await world.sleep(outageMs);
    await replaceOne(world, service);
  },
});

/** Replaces the oldest pod. */
async function replaceOne({ deployments }: World, service: ServiceName): Promise<void> {
  const [oldest] = deployments[service].pods;
  const gone = deployments[service].replace(oldest!);
  await deployments[service].available();
  await gone;
}

const SHORT = { outageMs: 3000 };

/** Outages that tests have time for. */
export const shortOutages = (): readonly Fault[] => [
  killedStore('nats', SHORT),
  killedStore('redis', SHORT),
  parted(['gateway', 'tasks'], SHORT),
  tamperedBus(SHORT),
];

/** One fault of each kind, with short outages. */
export const shortFaults = (): readonly Fault[] => [
  rollingRestart(SERVICES, 'in turn'),
  kills(SERVICES),
  frozenStore('postgres', SHORT),
  ...shortOutages(),
];

/** Every fault, with outages of 5 and 30 seconds. */
export function longFaults(): readonly Fault[] {
  const short = { outageMs: 5000 };
  const outages = [short, { outageMs: 30_000 }];
  const stores: readonly StoreName[] = ['nats', 'redis', 'postgres'];
  return [
    ...SERVICES.map((service) => rollingRestart([service])),
    rollingRestart(SERVICES),
    ...SERVICES.map((service) => kills([service])),
    ...stores.flatMap((name) =>
      outages.flatMap((sizes) => [frozenStore(name, sizes), killedStore(name, sizes)] as const),
    ),
    ...PEERS.map((pair) => parted(pair, { outageMs: 15_000 })),
    ...stores.map((store) => partedFromStore('tasks', store, { outageMs: 15_000 })),
    ...stores.map((store) => partedFromStore('gateway', store, { outageMs: 15_000 })),
    tamperedBus({ outageMs: 30_000 }),
    fullDisks(['temporary'], short),
    fullDisks(['nats'], { outageMs: 15_000 }),
    fullDisks(['postgres'], { outageMs: 15_000 }),
    ...[-600, 600].flatMap((offset) => SERVICES.map((service) => skewedClock(service, offset, short))),
  ];
}
