/**
 * The phases of a publish: Temporal's history has the start of each activity, the worker's log the phases of the build.
 */
import { Client, Connection } from '@temporalio/client';
import { median } from './measure.ts';
import type { Fixture } from './publish-fixture.ts';

export type Phases = Record<string, number>;

/** Milliseconds of each phase of a publish that was requested at `calledAt` (Unix time) and served `totalMs` later. */
export async function phasesOf(
  fixture: Fixture,
  deploymentId: string,
  calledAt: number,
  totalMs: number,
): Promise<Phases> {
  const began = await activityStarts(fixture, deploymentId);
  const ms = await fixture.msOf(deploymentId);
  const step = (name: string) => ms[name] ?? Number.NaN;
  const at = (name: string) => began.get(name) ?? Number.NaN;
  const before = at('buildSite') - calledAt;
  const inside = step('unpack') + step('build') + step('collect');
  return {
    'API call, row, outbox, workflow start': at('claimBuild') - calledAt,
    'waiting for its turn': at('snapshotSource') - at('claimBuild'),
    'writing both repositories into one tar': at('buildSite') - at('snapshotSource'),
    'sandbox claimed, source written, output read': step('sandbox') - inside,
    'unpacking in the sandbox': step('unpack'),
    'the build itself': step('build'),
    'comparing and sending files': step('collect'),
    'storing and syncing files': step('store'),
    'moving the live pointer': step('live'),
    'until the edge serves it': totalMs - before - step('sandbox') - step('store') - step('live'),
  };
}

async function activityStarts({ stack }: Fixture, deploymentId: string): Promise<Map<string, number>> {
  const connection = await Connection.connect({ address: stack.temporalAddress });
  try {
    const handle = new Client({ connection }).workflow.getHandle(`publish:${deploymentId}`);
    // Temporal records the start of an activity only when it has ended.
    await handle.result();
    const { events } = await handle.fetchHistory();
    const names = new Map(
      (events ?? []).map((event) => [
        String(event.eventId),
        event.activityTaskScheduledEventAttributes?.activityType?.name ?? '',
      ]),
    );
    return new Map(
      (events ?? []).flatMap((event) => {
        const started = event.activityTaskStartedEventAttributes;
        const { seconds, nanos } = event.eventTime ?? {};
        const time = Number(seconds) * 1000 + Number(nanos) / 1e6;
        return started ? [[names.get(String(started.scheduledEventId)) ?? '', time] as const] : [];
      }),
    );
  } finally {
    await connection.close();
  }
}

/** The platform's share: everything except the build. */
export function ownPart(phases: Phases, totalMs: number): number {
  return totalMs - (phases['the build itself'] ?? Number.NaN);
}

export function medianPhases(all: Phases[]): Phases {
  const names = Object.keys(all[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, median(all.map((one) => one[name] ?? Number.NaN))]));
}
