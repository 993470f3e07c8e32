/** The wait of a build for its turn: for the site's earlier publish, then for a build slot. */
import { condition, defineSignal, proxyActivities, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import * as policies from './policies.ts';

/** Sent to the builds that may start, when another has ended. */
const turnSignal = defineSignal('turn');

const { claimBuild } = proxyActivities<Activities>(policies.quick);

/** Returns when the build may start, or with the status of the row if that is settled. */
export async function waitForBuildTurn(deploymentId: string): Promise<string | undefined> {
  let isSignalled = false;
  setHandler(turnSignal, () => {
    isSignalled = true;
  });
  for (;;) {
    isSignalled = false;
    const turn = await claimBuild.executeWithOptions({ summary: 'claim the build, or wait' }, [deploymentId]);
    if (turn.turn === 'none') return turn.because;
    if (turn.turn === 'build') return undefined;
    setCurrentDetails(
      turn.for ? `Waiting for **${turn.for}**, which was accepted earlier, to end.` : 'Waiting for a build slot.',
    );
    await condition(() => isSignalled, '30 seconds');
  }
}
