/** A number with its noun: "1 site", "3 sites". Pure. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
