/** Nothing works after what it came from has ended, over random sequences compared with a model. */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { seedOr, sized } from '#test/campaigns/size.ts';
import { type Model, reaches, type Thing, works } from './endings-model.ts';
import { steps } from './endings-steps.ts';
import { createWorld } from './endings-world.ts';

const sequences = sized({ one: 20, short: 10_000, long: 100_000 });
const seed = seedOr(22);
const world = await createWorld();
afterAll(() => world.close());

/** More of what makes things than of what ends them. */
const names = fc.constantFrom<keyof typeof steps>(
  ...(['makeToken', 'makeToken', 'makeToken', 'makeGit', 'makeGit', 'makeUpload', 'makeReview'] as const),
  ...(['rotate', 'revoke', 'revoke', 'connect', 'renew', 'renew', 'signIn', 'press'] as const),
  ...(['changeMembership', 'closeSite', 'closeSite', 'closeSite', 'endAll', 'operate', 'pass', 'pass'] as const),
);
const number = fc.nat(255);
const step = fc.record({ name: names, by: number, what: number, how: number, look: number });

/** How often a secret that was used worked, and did not. */
const seen = { works: 0, fails: 0 };

async function use(model: Model, thing: Thing, site: number, trace: string[]): Promise<void> {
  const at = world.now();
  const wanted: boolean[] = [];
  const got: boolean[] = [];
  if (thing.scope) {
    wanted.push(reaches(model, thing, site, at));
    got.push((await world.call(thing.secret, 'GET', `/v1/sites/${world.sites[site]}/uploads`)).status === 200);
  } else if (thing.kind === 'git') {
    wanted.push(works(model, thing, at), works(model, thing, at, { write: true }));
    got.push(await world.admits(thing, 'read'), await world.admits(thing, 'write'));
  } else {
    wanted.push(works(model, thing, at));
    got.push(await opens(thing));
  }
  expect(got, `${thing.label} on site ${site}, after:\n${trace.join('\n')}\n`).toEqual(wanted);
  for (const worked of got) seen[worked ? 'works' : 'fails'] += 1;
}

async function opens(thing: Thing): Promise<boolean> {
  if (thing.kind === 'upload') return await world.opens(`/u/${thing.secret}`, 200);
  if (thing.kind === 'review') return await world.opens(`/review/${thing.secret}`, 303);
  return (await world.openPage(thing)).statusCode === 200;
}

async function useReplaced({ replaced }: Model, drawn: number, trace: string[]): Promise<void> {
  const secret = replaced[drawn % replaced.length];
  if (secret === undefined) return;
  const { status } = await world.call(secret, 'GET', '/v1/account');
  expect(status, `a replaced secret, after:\n${trace.join('\n')}\n`).toBe(401);
  seen.fails += 1;
}

test('nothing works after what it came from has ended', { timeout: 36_000_000 }, async () => {
  // A failing sequence is shortened, and then nothing depends on which secret a step happened to look at.
  let looksAtAll = false;
  const sequence = fc.array(step, { minLength: 4, maxLength: 14, size: 'max' });
  const property = fc.asyncProperty(sequence, async (drawn) => {
    const model = await world.reset();
    const trace: string[] = [];
    try {
      for (const { name, look, ...numbers } of drawn) {
        trace.push(await steps[name]({ world, model }, numbers));
        const chosen = looksAtAll ? model.things : [model.things[look % model.things.length] as Thing];
        await Promise.all(chosen.map((thing) => use(model, thing, (look % 4) % 3, trace)));
      }
      await Promise.all(model.things.map((thing, at) => use(model, thing, at % 3, trace)));
      await useReplaced(model, drawn.length, trace);
    } catch (error) {
      looksAtAll = true;
      throw error;
    }
  });
  await fc.assert(property, { numRuns: sequences, seed });
  // A model in which nothing works, or everything, agrees with much.
  expect(seen.works).toBeGreaterThan(sequences);
  expect(seen.fails).toBeGreaterThan(sequences);
});
