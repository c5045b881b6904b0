import { newChecks } from '@reelgate/platform/diagnosis/self-checks';
import type { OpenChecks } from '@reelgate/platform/diagnosis/self-checks';
import { profileRecorder } from '@reelgate/platform/diagnosis/record-profile';
import type { ReadyCheck } from '@reelgate/platform/lifecycle/readiness';
import type { Binding } from '@reelgate/platform/rpc/service';
import type { ServiceName } from '../config/program-config.ts';
import type { ConfigState } from '../watch-config.ts';
import type { BaseFoundation } from '../open-foundation.ts';
import { diagnosisBinding } from './diagnosis-binding.ts';

/** The diagnosis of this process, for an operator. */
export interface ProcessDiagnosis {
  /** Returns the checks of a service. Those that its parts add are run from then on. */
  checksOf(service: ServiceName): OpenChecks;
  /** The RPCs of the diagnosis of a service. */
  bindingOf(service: ServiceName, isReady: ReadyCheck): Binding;
  /** Returns the state of the watch of the configuration, or undefined if the watch has not begun. */
  configuration(): ConfigState | undefined;
  follow(configuration: () => ConfigState): void;
}

export function processDiagnosis({ clock, log }: BaseFoundation, areProfilesAllowed: () => boolean): ProcessDiagnosis {
  const startedAt = clock.now();
  let state: (() => ConfigState) | undefined;
  const checks = new Map<ServiceName, OpenChecks>();
  const profiles = profileRecorder(clock, areProfilesAllowed);
  const checksOf = (service: ServiceName): OpenChecks => {
    const known = checks.get(service) ?? newChecks();
    checks.set(service, known);
    return known;
  };
  return {
    checksOf,
    bindingOf: (service, isReady) =>
      diagnosisBinding({ service, checks: checksOf(service), isReady, clock, log, startedAt, profiles }),
    configuration: () => state?.(),
    follow: (configuration) => {
      state = configuration;
    },
  };
}
