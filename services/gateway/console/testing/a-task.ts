import type { TaskMoney } from '../api/money.ts';
import type { TaskView } from '../api/task.ts';
import type { TaskRow } from '../api/tasks.ts';

/** 19:02:00 in UTC. */
export const T0 = Date.UTC(2026, 10, 23, 19, 2, 0);

export const usd = (amount: string): { amount: string; currency: string } => ({ amount, currency: 'USD' });

export function aTaskRow(over: Partial<TaskRow> = {}): TaskRow {
  return {
    id: 'task_1',
    kind: 'generation',
    model: 'Alpha-H3',
    state: 'completed',
    progress: 100,
    prompt: 'a <b>boat</b>',
    seconds: 5,
    resolution: '768P',
    ratio: '16:9',
    createdAt: T0,
    endedAt: T0 + 62_000,
    charge: { held: usd('0.4'), charged: usd('0.4'), basis: 'usage' },
    ...over,
  };
}

export function aTaskMoney(over: Partial<TaskMoney> = {}): TaskMoney {
  return {
    held: usd('0.4'),
    charged: usd('0.4'),
    basis: 'usage',
    contract: 'Alpha-H3',
    version: 1,
    facts: { seconds: 5 },
    terms: { per_second: { '768P': '0.08', '2K': '0.13' }, images: { free: 5, each: '0.04' } },
    heldAt: T0,
    settledAt: T0 + 62_000,
    returned: usd('0'),
    lines: [{ event: 'hold', book: 'held', amount: '0.4', at: T0 }],
    ...over,
  };
}

export function aTaskView(over: Partial<TaskView> = {}): TaskView {
  return {
    task: {
      ...aTaskRow(),
      updatedAt: T0 + 62_000,
      expiresAt: T0 + 604_800_000,
      fullPrompt: 'a <b>boat</b>',
      tokenId: 'token_1',
      tokenName: 'batch',
      references: [{ role: 'first_frame', kind: 'image', url: 'javascript:alert(1)' }],
      settings: { seed: 7 },
    },
    video: {
      src: '/console/api/v1/videos/task_1/content',
      thumbnail: '/console/api/v1/videos/task_1/content?variant=thumbnail',
      download: '/console/api/v1/videos/task_1/content',
      bytes: 4_404_019,
      mediaType: 'video/mp4',
      width: 1280,
      height: 720,
      durationMs: 5000,
      frameRate: 24,
    },
    money: aTaskMoney(),
    timeline: [
      { lane: 'service', step: 'created', from: T0, to: T0 },
      { lane: 'money', step: 'held', from: T0, to: T0 + 62_000, detail: '0.4 USD' },
      { lane: 'service', step: 'submitted', from: T0, to: T0 + 1000 },
      { lane: 'upstream', step: 'queued', from: T0 + 1000, to: T0 + 48_000 },
      { lane: 'upstream', step: 'in_progress', from: T0 + 48_000, to: T0 + 61_000 },
      { lane: 'service', step: 'fetched', from: T0 + 61_000, to: T0 + 62_000 },
      { lane: 'service', step: 'completed', from: T0 + 62_000, to: T0 + 62_000 },
      { lane: 'client', step: 'webhook', from: T0 + 62_100, to: T0 + 62_400, detail: '200' },
    ],
    sameCall: { programs: [{ id: 'curl', text: 'curl -X POST' }], isPartial: false },
    deliveries: [],
    raw: { id: 'task_1' },
    canCancel: false,
    canRegenerate: true,
    unavailable: [],
    now: T0 + 100_000,
    ...over,
  };
}
