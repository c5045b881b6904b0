import { CRASHES_WITHIN_MS } from './crashes.ts';
import type { Fault } from './faults.ts';
import type { SharedServers } from './machine.ts';
import type { World } from './world.ts';

const FREEZES_MAX = 3;
/** A process that stands still for more than ten heartbeats is taken for dead. */
const FROZEN_MS = { least: 500, most: 40_000 };
const JUMPS_MAX = 3;
const JUMP_MS_MAX = 20 * 60_000;
const AWAYS_MAX = 2;
const AWAY_MS = { least: 500, most: 8000 };

/** Plans processes that stand still for a while, clocks that are set, and a server that is away. */
export function planDisturbances(
  { scheduler, draws, faults, machine }: World,
  shared: SharedServers | undefined,
): void {
  const plan = (fault: Fault, most: number, act: (name: string) => void): void => {
    if (!faults.isOn(fault)) return;
    const times = draws.whole(`${fault} times`, 1, most);
    for (let time = 1; time <= times; time += 1) {
      const name = `${fault} ${time}`;
      scheduler.after(draws.whole(`${name} at`, 0, CRASHES_WITHIN_MS), scheduler.world, () => {
        faults.note(fault, name);
        act(name);
      });
    }
  };
  plan('frozen process', FREEZES_MAX, (name) => {
    machine.disturb(name, (process) => {
      const ms = draws.whole(`${name} ms`, FROZEN_MS.least, FROZEN_MS.most);
      process.frozenUntil = scheduler.now() + ms;
      return `${process.name} stands still for ${ms} ms`;
    });
  });
  plan('clock jump', JUMPS_MAX, (name) => {
    machine.disturb(name, (process) => {
      process.skewMs = draws.whole(`${name} ms`, -JUMP_MS_MAX, JUMP_MS_MAX);
      return `the clock of ${process.name} is set to ${process.skewMs} ms`;
    });
  });
  if (shared !== undefined)
    plan('server away', AWAYS_MAX, (name) => {
      shared.server.goAway(draws.whole(`${name} ms`, AWAY_MS.least, AWAY_MS.most));
    });
}
