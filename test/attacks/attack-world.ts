import path from 'node:path';
import { startFakeDns } from '../../services/media/testing/fake-dns.ts';
import type { FakeDns } from '../../services/media/testing/fake-dns.ts';
import { startOrigin } from '../../services/media/testing/origin.ts';
import type { Origin } from '../../services/media/testing/origin.ts';
import { startRawOrigin } from '../../services/media/testing/raw-origin.ts';
import type { RawOrigin } from '../../services/media/testing/raw-origin.ts';
import { freePorts } from '../harness/free-ports.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { startLyingUpstream } from './lying-upstream.ts';
import type { LyingUpstream } from './lying-upstream.ts';

/** The text of a canary. No answer of the program may hold it. */
export const CANARY_WORDS = 'canary-of-the-internal-network';
/** Loopback addresses where a canary listens. The program must dial none of them. */
const CANARY_HOSTS = ['127.0.0.1', '127.0.0.2', '::1'];
const FIXTURES = path.join(import.meta.dirname, '../../services/media/testing/fixtures');

/** A running program and everything that an attacker controls around it, all on loopback. */
export interface AttackWorld {
  readonly program: Program;
  readonly upstream: LyingUpstream;
  readonly dns: FakeDns;
  /** The program may dial these three, on this address and port only. */
  readonly origin: Origin;
  readonly secure: Origin;
  readonly raw: RawOrigin;
  /** The port of the canaries. The configuration permits this port, so only the address forbids it. */
  readonly canary: number;
  /** The port of the program's own metrics. The configuration permits it, and the port of the public address too. */
  readonly admin: number;
  /** The number of connections to canaries. */
  touched(): number;
  close(): Promise<void>;
}

export async function openAttackWorld(): Promise<AttackWorld> {
  process.env['NODE_EXTRA_CA_CERTS'] = path.join(FIXTURES, 'tls-authority.pem');
  const [canary = 0] = await freePorts(1);
  const always = `HTTP/1.1 200 OK\r\ncontent-type: image/png\r\n\r\n${CANARY_WORDS}`;
  const [upstream, dns, origin, secure, raw, ...canaries] = await Promise.all([
    startLyingUpstream(),
    startFakeDns(),
    startOrigin(),
    startOrigin({ tls: true }),
    startRawOrigin(),
    ...CANARY_HOSTS.map((address) => startRawOrigin({ address, port: canary, always })),
  ]);
  let admin = 0;
  const program = await newProgram('one program', { upstream: upstream.host }, (config) => {
    admin = Number(config.gateway.admin.split(':')[1]);
    const fetch = {
      allow: [upstream.host, origin.host, secure.host, raw.host],
      ports: [80, 443, canary, admin, Number(new URL(config.public_url).port)],
      dns_servers: [dns.address],
      in_flight: { total: 64, per_account: 64, per_host: 64 },
      yield_after: '60s',
      speed_window: '1s',
      timeouts: { dns: '3s', connect: '3s', headers: '2s', idle: '2s', image_total: '6s', video_total: '6s' },
    };
    const bounded = { limits: { image: '1MiB', video: '1MiB', audio: '1MiB', base_video: '1MiB' } };
    return {
      ...config,
      accounts: config.accounts.map((account) => ({ ...account, credit: '1000000.00' })),
      media: { ...config.media, ...bounded, results: { max_bytes: '4MiB', total: '3s' }, fetch },
    };
  });
  await program.start();
  return {
    program,
    upstream,
    dns,
    origin,
    secure,
    raw,
    canary,
    admin,
    touched: () => canaries.reduce((sum, each) => sum + each.connections(), 0),
    close: async () => {
      await program.end();
      await Promise.all([upstream.stop(), ...[dns, origin, secure, raw, ...canaries].map((each) => each.close())]);
    },
  };
}
