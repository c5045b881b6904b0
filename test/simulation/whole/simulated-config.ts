import { billingConfig } from '@reelgate/billing/config';
import type { BillingConfig } from '@reelgate/billing/config';
import { tasksConfig } from '@reelgate/tasks/config';
import type { TasksConfig } from '@reelgate/tasks/config';
import { ALPHA, KLING } from './upstream-hosts.ts';

export const PUBLIC_URL = 'https://gateway.example';
export const ACCOUNT = 'acme';
export const TOKEN_KEY = 'sk-simulated-0123456789';
export const SIGNING_KEY = 'signing-key-of-the-simulation';
export const MODEL = 'Simulated-V1';
export const DURATIONS = [5, 10] as const;
export const RATIOS = ['16:9', '9:16', '1:1'] as const;
/** Billionths of a dollar for a second, by resolution. */
export const NANOS_PER_SECOND: Readonly<Record<string, bigint>> = { '720p': 80_000_000n, '1080p': 130_000_000n };
export const RESOLUTIONS = Object.keys(NANOS_PER_SECOND);

interface ChannelPlace {
  readonly origin: string;
  readonly account: string;
  readonly model: string;
}

function describeChannel(adapter: string, { origin, account, model }: ChannelPlace): object {
  return {
    ...{ id: `${adapter}-channel`, adapter, base_url: origin, api_key: `key-of-${account}`, upstream_account: account },
    ...{ endpoints: ['video.generation'], models: { [MODEL]: model }, priority: 0, weight: 1, enabled: true },
    limits: { requests_per_minute: 6000, in_flight: 1000, polls_per_minute: 6000 },
    timeouts: { submit: '20s', poll: '10s' },
    ...{ reconcile: 'list', callbacks: false, hosts: {}, options: {}, regeneration: 'task' },
  };
}

/** The values that the schema check returns, of one model on two channels that are equally good. */
const VALUE = {
  tasks: {
    in_flight: { per_token: 1000, total: 1000 },
    poll: { first: '3s', factor: 1.5, max: '15s', soft_deadline: '30m', hard_deadline: '24h' },
    retention: '90d',
    jobs: { per_token: 100, total: 1000, lease: '20s', deadline: '1h' },
  },
  billing: { overrun_factor: 10, send_ahead_max: '1' },
  webhooks: { allow: [], retention: '30d', endpoints_per_account: 20 },
  models: { [MODEL]: { duration: DURATIONS, resolutions: RESOLUTIONS, ratios: RATIOS } },
  channels: [describeChannel('alpha-v2', ALPHA), describeChannel('kling', KLING)],
  prices: { [MODEL]: { per_second: { '720p': '0.08', '1080p': '0.13' } } },
  accounts: [
    {
      ...{ id: ACCOUNT, currency: 'USD', credit: '100000.00', upstream_accounts: [] },
      tokens: [{ key: TOKEN_KEY, models: ['*'] }],
    },
  ],
};

export function simulatedConfigs(): { readonly tasks: TasksConfig; readonly billing: BillingConfig } {
  return { tasks: tasksConfig(VALUE, PUBLIC_URL), billing: billingConfig(VALUE) };
}
