/** How an activity may go wrong around its effect. */
export const ways = {
  'breaks off before its effect': async () => Promise.reject(new Error('broken off')),
  'breaks off between its effect and its report': async (act: () => Promise<unknown>) => {
    await act();
    throw new Error('broken off');
  },
  'is done again after its report': async (act: () => Promise<unknown>) => {
    await act();
    return await act();
  },
  'is done by two at once': async (act: () => Promise<unknown>) => {
    const [one, two] = await Promise.allSettled([act(), act()]);
    if (one.status === 'rejected' && two.status === 'rejected') throw one.reason;
    return one.status === 'fulfilled' ? one.value : (two as PromiseFulfilledResult<unknown>).value;
  },
};
export type Way = keyof typeof ways;
