import { size } from '#test/campaigns/size.ts';

/** Faults of an activity around its effect: an error before or after it, a repetition, two runs at once. */
export const activityFaults = {
  'fails before its effect': async () => Promise.reject(new Error('interrupted')),
  'fails after its effect': async (act: () => Promise<unknown>) => {
    await act();
    throw new Error('interrupted');
  },
  'runs again after its report': async (act: () => Promise<unknown>) => {
    await act();
    return await act();
  },
  'runs twice at once': async (act: () => Promise<unknown>) => {
    const [one, two] = await Promise.allSettled([act(), act()]);
    if (one.status === 'rejected' && two.status === 'rejected') throw one.reason;
    return one.status === 'fulfilled' ? one.value : (two as PromiseFulfilledResult<unknown>).value;
  },
};
export type ActivityFault = keyof typeof activityFaults;

const all = Object.keys(activityFaults) as ActivityFault[];

/** Campaigns try every fault of an activity; `npm test` tries one, another of each neighbour in the list that `at` counts. */
export function faultsOf(at: number): ActivityFault[] {
  return size === 'one' ? all.filter((_fault, index) => index === (at + 1) % all.length) : all;
}
