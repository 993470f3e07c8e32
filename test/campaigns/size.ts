/**
 * How much a campaign does. A campaign is a test that draws at random, kills processes or repeats: it has a short form and a long
 * form, which `npm run campaigns` runs, and where it is quick enough one more for `npm test`. See docs/campaigns.md.
 */

export type CampaignSize = 'one' | 'short' | 'long';

export const size = (process.env.FRONTAGE_CAMPAIGN ?? 'one') as CampaignSize;

export const isLong = size === 'long';

/** The number for the form that runs. Files of `test/campaigns` are not in `npm test`, so they have two forms. */
export function sized(numbers: { one?: number; short: number; long: number }): number {
  return numbers[size] ?? numbers.short;
}

/** The seed of a random sequence: `FRONTAGE_SEED`, or the one that this campaign usually has. */
export const seedOr = (usual: number): number => Number(process.env.FRONTAGE_SEED ?? usual);
